"""`0 14 */10 * 1-5` ran on every workday, `0 8 1-7 * 1` on eleven days a month, and nothing said so.

Cron has two fields for days, and what they mean together surprises people of every tool. Here a field that
begins with `*` restricts nothing by itself, as in Vixie cron, and lint names what fires on days that match
either.
"""

from datetime import UTC, date, datetime, timedelta

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.domain.time.cron import CronError, parse

JUNE = datetime(2026, 6, 1, tzinfo=UTC)
WORKDAYS = [1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 15, 16, 17, 18, 19, 22, 23, 24, 25, 26, 29, 30]
APP = """\
app: shop
programs: {p: {run: programs.p}}
schedules:
  tenth: {program: p, trigger: {cron: "0 14 */10 * 1-5"}}
  daily: {program: p, trigger: {cron: "0 6 * * *"}}
"""


@pytest.mark.parametrize(
    ("pattern", "days"),
    [
        ("0 14 */10 * 1-5", [1, 11]),
        ("0 14 1-31/10 * 1-5", sorted([*WORKDAYS, 21])),
        ("0 14 1-7 * */7", [7]),
        ("0 14 * * 1", [1, 8, 15, 22, 29]),
        ("0 14 */2 * */2", [7, 9, 11, 13, 21, 23, 25, 27]),
        ("0 14 1-7 * 1", [1, 2, 3, 4, 5, 6, 7, 8, 15, 22, 29]),
        ("0 14 13 * fri", [5, 12, 13, 19, 26]),
    ],
)
def test_the_days_of_june(pattern: str, days: list[int]) -> None:
    fires = parse(pattern).fires(JUNE, JUNE + timedelta(days=30), "UTC")
    assert [fire.day for fire in fires] == days


def test_lint_says_how_often_two_lists_fire() -> None:
    text = APP.replace("*/10", "1-7").replace("1-5", "1").encode()
    (found,) = compile_files({"shop.yaml": text}, today=date(2026, 1, 1)).diagnostics
    assert (found.code, found.severity) == ("L424", "note")
    assert "124 fires in the coming year" in found.summary


@pytest.mark.parametrize("days", ["L * *", "LW * *", "* * 5L"])
def test_the_last_day_has_a_spelling(days: str) -> None:
    with pytest.raises(CronError) as refused:
        parse(f"0 6 {days}")
    assert "nth_business_day: -1" in (refused.value.hint or "") or "-1 for the last" in (
        refused.value.hint or ""
    )
    assert "days: [last]" in (refused.value.hint or "")

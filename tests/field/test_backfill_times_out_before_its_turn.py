"""I filled a year again, three hours for each day at most; from the second day on none was run at all.

A timeout of an instance of a backfill counts from the begin of its lot, as its deadline does: what has not
had its turn is not too late.
"""

import pytest

from tests.field.played import failures

APP = """
app: slow
datasets: {{o: {{partitions: {{cycle: day, start: 2026-01-01}}}}}}
programs: {{p: {{run: x.p, writes: [o]}}}}
tasks:
  t:
    program: p
    cycle: day
    at: {{time: "02:00"}}
    timeout: 3h
    constraints: [{{load: {{gauge: busy, max: 1}}}}]
    status: active
examples:
  - name: it
    start: 2026-03-10T12:00:00Z
    until: +12h
    expect_only: [{only}]
    programs: {{p: {{takes: 2h}}}}
    given:
      - {{at: +0s, backfill: {{task: t, from: 2026-03-01, to: 2026-03-04, lot: 1}}}}
{given}
    expect:
{expect}
"""


def app(expect: list[str], *given: str, only: str = "") -> str:
    lines = ["\n".join(f"      - {{{each}}}" for each in some) for some in (given, expect)]
    return APP.format(given=lines[0], expect=lines[1], only=only)


def test_each_lot_has_its_whole_time() -> None:
    begins = [
        f"at: +{2 * n}h, launch: t, business_date: {day}, number: 1, partitions: [{day}]"
        for n, day in enumerate(f"2026-03-0{number}" for number in range(1, 5))
    ]
    assert failures(app(begins, only="t")) == []


@pytest.mark.parametrize(("at", "status"), [("+299m", "waiting"), ("+5h", "failed")])
def test_a_lot_that_has_begun_times_out_after_it(at: str, status: str) -> None:
    state = f"at: {at}, instance: t, business_date: 2026-03-02, status: {status}"
    assert failures(app([state], "at: +1h, gauge: {busy: 5}")) == []

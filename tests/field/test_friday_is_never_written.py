"""My job runs on weekdays, and Friday's data is never processed; Monday's run writes an empty Sunday.

The runs of two weeks around Easter 2026, and what lint says before.
"""

import pytest

from tests.worlds.world import DATASETS, World, app_of
from tidegate.compiler.compile import compile_files

HEAD = DATASETS.replace("app: a", "app: a\ncalendars: {de: {country: DE}}")
EASTER = range(22, 37)
"""The days from 1 to 15 April after 10 March."""


class InGermany(World):
    """A world with a calendar."""

    compiled = staticmethod(lambda text: app_of(text, HEAD))


def written(schedule: str) -> list[str]:
    """The partitions of the runs, in order."""
    world = InGermany(schedule, start="21d 00:00")
    for day in EASTER:
        world.tick(f"{day}d 06:00")
        for job in world.jobs("s"):
            if job.launch is not None and job.run_id is None:
                world.run(f"{day}d 06:00", "p", "succeeded", f"r{job.id}", job=job.id)
    jobs = sorted(world.jobs("s"), key=lambda job: job.opened_at)
    return [key[-5:] for job in jobs if job.launch is not None for key in job.launch.partitions]


def of(cron: str, more: str = ", output_partition: business_day") -> str:
    return f"s: {{program: p, status: active, trigger: {cron}{more}}}"


def test_on_weekdays_each_weekday_is_written_once() -> None:
    april = [f"04-{day:02}" for day in range(1, 15) if day not in (4, 5, 11, 12)]
    assert written(of('{cron: "0 6 * * mon-fri"}')) == ["03-31", *april]


def test_on_business_days_each_business_day_is_written_once() -> None:
    april = [f"04-{day:02}" for day in range(1, 15) if day not in (3, 4, 5, 6, 11, 12)]
    assert written(of('{cron: "0 6 * * *", calendar: de}')) == ["03-31", *april]


WARNED = [
    ("weekdays", '{cron: "0 6 * * mon-fri"}', "", True),
    ("business days", '{cron: "0 6 * * *", calendar: de}', "", True),
    ("the mornings after weekdays", '{cron: "0 6 * * tue-sat"}', "", False),
    ("each day", '{cron: "0 6 * * *"}', "", False),
    ("the first of each month", '{cron: "0 6 1 * *"}', "", False),
    (
        "two crons that are a week together",
        '{any: [{cron: "0 6 * * mon-fri"}, {cron: "0 9 * * sat"}]}',
        "",
        False,
    ),
    ("the last business day", '{cron: "0 6 * * mon-fri"}', ", output_partition: business_day", False),
    ("no date at all", '{cron: "0 6 * * mon-fri"}', ", output_partition: current", False),
]


@pytest.mark.parametrize(("sentence", "cron", "more", "warned"), WARNED, ids=[row[0] for row in WARNED])
def test_lint_says_so_before(sentence: str, cron: str, more: str, *, warned: bool) -> None:
    text = HEAD + f"  {of(cron, more)}\n"
    codes = [found.code for found in compile_files({"a.yaml": text.encode()}).diagnostics]
    assert ("L423" in codes) is warned

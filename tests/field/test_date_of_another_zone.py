"""My cron runs in Tokyo time, and its run was about a day, or a month, that was already done.

Each row is a cron with a zone of its own in an app of New York, and the partition that its run has to write.
"""

import pytest

from tests.worlds.world import DATASETS, World, app_of

HEAD = (
    DATASETS.replace("app: a", "app: a\ntimezone: America/New_York")
    .replace(
        "  out: ",
        "  months: {partitions: {cycle: month, start: 2013-01-01}}\n"
        "  utc_hours: {partitions: {cycle: hour, start: 2013-01-01-00:00, timezone: UTC}}\n"
        "  out: ",
    )
    .replace(
        "programs:\n",
        "programs:\n  m: {run: programs.m, writes: [months]}\n  u: {run: programs.u, writes: [utc_hours]}\n",
    )
)


class InNewYork(World):
    """A world whose app is in New York."""

    compiled = staticmethod(lambda text: app_of(text, HEAD))


ROWS = [
    ("a day in Tokyo", "p", '{cron: "0 2 * * *", timezone: Asia/Tokyo}', "17:00", "2026-03-10"),
    ("a day in Honolulu", "p", '{cron: "0 22 * * *", timezone: Pacific/Honolulu}', "08:00", "2026-03-08"),
    ("a day at home", "p", '{cron: "0 22 * * *"}', "02:00", "2026-03-08"),
    ("a month in Tokyo", "m", '{cron: "0 3 1 * *", timezone: Asia/Tokyo}', "21d 18:00", "2026-03-01"),
    ("an hour of UTC", "u", '{cron: "10 * * * *", timezone: Asia/Kolkata}', "00:40", "2026-03-09-23:00"),
    ("an hour of UTC, at home", "u", '{cron: "10 * * * *"}', "00:10", "2026-03-09-23:00"),
]


@pytest.mark.parametrize(
    ("sentence", "program", "cron", "clock", "expected"), ROWS, ids=[row[0] for row in ROWS]
)
def test_a_run_is_about_the_date_before_the_one_that_its_cron_names(
    sentence: str, program: str, cron: str, clock: str, expected: str
) -> None:
    world = InNewYork(f"s: {{program: {program}, status: active, trigger: {cron}}}")
    world.tick(clock)
    launched = [job.launch for job in world.jobs("s") if job.launch is not None]
    assert launched[-1].partitions == (expected,)
    assert launched[-1].business_date == expected


def test_two_crons_of_two_zones_write_two_dates() -> None:
    tokyo, york = '{cron: "0 2 * * *", timezone: Asia/Tokyo}', '{cron: "0 18 * * *"}'
    world = InNewYork(f"s: {{program: p, status: active, trigger: {{any: [{tokyo}, {york}]}}}}")
    for clock in ("17:00", "22:00"):
        world.tick(clock)
        for job in world.jobs("s"):
            if job.launch is not None and job.run_id is None:
                world.run(clock, "p", "succeeded", f"r{clock}", job=job.id)
    launched = [job.launch for job in world.jobs("s") if job.launch is not None]
    assert {plan.partitions for plan in launched} == {("2026-03-10",), ("2026-03-09",)}

"""`tidegate why`: what would unblock a job, and what `why` would have said at a past moment."""

from datetime import UTC, datetime

import pytest

from tests.tidegate.project import Project


def test_it_lists_what_would_unblock_the_job_with_the_lines_of_the_yaml(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    printed = deployed.run("why", "report_daily")
    assert "would unblock it" in printed
    assert "partitions: 1 more new partition of orders  schedules/sales.yaml:14" in printed
    (found,) = deployed.json("why", "report_daily")
    assert [(each["kind"], each["what"], each["by"]) for each in found["missing"]] == [
        ("partitions", "1 more new partition of orders", None)
    ]


def test_it_tells_a_past_moment_as_it_was(deployed: Project) -> None:
    before = datetime.now(UTC)
    deployed.arrive("2026-03-09")
    (now,) = deployed.json("why", "report_daily")
    assert now["trigger"]["summary"] == "1 of 2 new partitions of orders"
    (then,) = deployed.json("why", "report_daily", "--at", before.isoformat())
    assert then["trigger"]["summary"] == "0 of 2 new partitions of orders"
    assert then["headline"] == "nothing waits: no event has come since the last job"
    local = before.astimezone().isoformat(sep=" ")
    assert deployed.json("why", "report_daily", "--at", local) == [then]


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("yesterday", '--at is an instant of ISO 8601, got "yesterday"'),
        ("2026-03-10T22:00:00", '--at needs a zone or an offset, got "2026-03-10T22:00:00"'),
        ("2126-03-10T22:00:00Z", "--at is a moment that has been, got 2126-03-10T22:00:00Z"),
        ("2013-01-01T00:00:00Z", 'no schedule "report_daily": none is deployed'),
    ],
)
def test_a_moment_of_which_nothing_is_known_is_refused(deployed: Project, moment: str, message: str) -> None:
    assert message in deployed.refused("why", "report_daily", "--at", moment).message

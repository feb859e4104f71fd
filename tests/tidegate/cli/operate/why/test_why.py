"""`tidegate why`: what would unblock a job, and what `why` would have said at a past moment."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.tidegate.project import Project
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.scheduler.tick.clock import TICKED
from tidegate.spark_jobs.commit.recovery import BLOCKED_AFTER

pytestmark = pytest.mark.slow  # whole commands


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
    assert then["scheduler"] == [], "what is alive now says nothing about then"
    assert then["headline"] == "no waiting job: no event has arrived since the last job"
    local = before.astimezone().isoformat(sep=" ")
    assert deployed.json("why", "report_daily", "--at", local) == [then]


@pytest.mark.parametrize(
    ("moment", "message"),
    [
        ("yesterday", '--at must be an ISO 8601 instant, got "yesterday"'),
        ("2026-03-10T22:00:00", '--at must have a zone or an offset, got "2026-03-10T22:00:00"'),
        ("2126-03-10T22:00:00Z", "--at must be in the past, got 2126-03-10T22:00:00Z"),
        ("2013-01-01T00:00:00Z", 'schedule "report_daily" is not deployed; the store has no schedules'),
    ],
)
def test_a_moment_of_which_nothing_is_known_is_refused(deployed: Project, moment: str, message: str) -> None:
    assert message in deployed.refused("why", "report_daily", "--at", moment).message


def test_a_command_shows_nothing_of_the_scheduler(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    assert "the code location are alive" in deployed.run("why", "report_daily")
    store = deployed.store()
    with store.transaction() as transaction:
        transaction.set_cursor(TICKED, (datetime.now(UTC) - timedelta(minutes=5)).isoformat())
    store.close()
    deployed.run("schedules", "trigger", "report_daily")
    (found,) = deployed.json("why", "report_daily")
    assert found["scheduler"][0].endswith(", 5 minutes ago")
    assert found["scheduler"][1].startswith("check the Dagster daemon")


def test_it_names_the_outputs_that_cannot_be_written_and_the_remedy(deployed: Project) -> None:
    store = open_sql_store(load_settings().store_url)
    commits, now = SqlCommitStepStore(store.engine), datetime.now(UTC)
    token = commits.begin("c1", ["sales/report"], until=now + timedelta(minutes=2))
    commits.put("c1", ["sales/report"], token, "steps")
    for tries in range(BLOCKED_AFTER):
        assert "blocked" not in deployed.run("why", "report_daily"), f"{tries} failed tries block nothing"
        commits.take("c1", "me", now=now, until=now)
        commits.fail("c1", "me", "CommitUnknown: the staged folder is gone", now)
    store.close()

    printed = deployed.run("why", "report_daily")

    assert "sales/report, by commit c1: CommitUnknown: the staged folder is gone" in printed
    assert "tidegate commits show c1, then recover or abandon it" in printed
    assert "--output" not in printed
    (found,) = deployed.json("why", "report_daily")
    assert [each["dataset"] for each in found["blocked"]] == ["sales/report"]

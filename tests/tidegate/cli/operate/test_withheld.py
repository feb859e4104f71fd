"""What is withheld, on the command line: what `checks: passed` does not count yet, and withheld publishes."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.store.commits.sequences import FAILED
from tests.tidegate.project import Project
from tidegate.scheduler.decision.asset_checks import Evaluated, Materialised
from tidegate.scheduler.intake.asset_checks import fold_checks
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.records.withheld import CheckResult
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES, WithheldPublish

pytestmark = pytest.mark.slow  # whole commands

CORE = """\
app: core
datasets:
  demand: {asset: acme/core/demand, partitions: {cycle: day, start: 2026-01-01}}
programs:
  sum: {run: programs.sum}
schedules:
  each_day:
    program: sum
    for_each: day
    trigger: {partitions: {dataset: demand, checks: passed}}
    status: active
"""


@pytest.fixture
def withheld(deployed: Project) -> Project:
    """A project in which a partition is withheld, since a check of it has failed."""
    (deployed.folder / "schedules" / "core.yaml").write_text(CORE)
    deployed.run("deploy", "--yes")
    store, now = deployed.store(), datetime.now(UTC)
    made = Event(
        id="m1",
        kind=EventKind.PARTITION,
        key=partition_event_key("core", "demand"),
        time=now,
        arrived=now,
        partition="2026-03-09",
        run_id="run-1",
    )
    result = CheckResult(passed=False, description="3 rows below zero", run_id="run-1", at=now)
    failed = Evaluated(dataset="core/demand", check="positive", partition=None, target=None, result=result)
    fact = Materialised(dataset="core/demand", event=made, at=now, evaluated=(failed,), ended=True)
    with store.transaction() as transaction:
        transaction.add_events([made])
        fold_checks(transaction, [fact], now)
    store.close()
    return deployed


SAID = "core/demand 2026-03-09: check positive failed: 3 rows below zero (run run-1)"


def test_the_list_has_what_is_withheld_with_the_check_and_the_run(withheld: Project) -> None:
    assert "positive failed: 3 rows below zero (run run-1)" in withheld.run("events", "list", "--withheld")
    (found,) = withheld.json("events", "list", "--withheld")
    assert found["withheld"]["text"] == SAID
    assert found["withheld"]["checks"] == [
        {"check": "positive", "state": "failed", "description": "3 rows below zero", "run_id": "run-1"}
    ]
    (plain,) = withheld.json("events", "list", "--dataset", "core/demand")
    assert plain["withheld"] is None


def test_why_says_what_is_withheld_from_the_schedule(withheld: Project) -> None:
    assert f"withheld: {SAID}" in withheld.run("why", "core/each_day")
    (found,) = withheld.json("why", "core/each_day")
    assert found["withheld"][0]["text"] == SAID


def test_a_replay_feeds_what_was_released_to_those_who_wait_for_checks(withheld: Project) -> None:
    now = datetime.now(UTC)
    store = withheld.store()
    result = CheckResult(passed=True, run_id="run-2", at=now)
    passed = Evaluated(
        dataset="core/demand", check="positive", partition="2026-03-09", target=None, result=result
    )
    with store.transaction() as transaction:
        fold_checks(transaction, [passed], now)
    store.close()

    assert withheld.json("events", "list", "--withheld") == []
    (replayed,) = withheld.json("events", "replay", "demand", "--again", "--yes")
    assert replayed["schedule"] == "core/each_day"


def test_status_and_doctor_have_the_number_of_withheld_publishes_and_the_age_of_the_oldest(
    deployed: Project,
) -> None:
    assert "withheld" not in deployed.run("doctor", exit_code=1)
    oldest, store = datetime.now(UTC) - timedelta(days=3), deployed.store()
    rows = [
        WithheldPublish(commit=commit, job="", token=1, datasets=(dataset,), verdicts=(FAILED,), at=at)
        for commit, dataset, at in (
            ("c1", "sales/report", oldest + timedelta(hours=1)),
            ("c2", "sales/report", oldest),
            ("c3", "another/report", oldest - timedelta(days=9)),
        )
    ]
    with store.transaction() as transaction:
        transaction.put_records(WITHHELD_PUBLISHES, rows)
    store.close()

    since = f"2, the oldest for 3d, since {oldest:%Y-%m-%d %H:%M:%S}Z"
    assert f"{since}; `tidegate commits list`" in deployed.run("status", exit_code=1)
    assert f"note  withheld publishes: {since}" in deployed.run("doctor", exit_code=1)
    work = deployed.json("status", exit_code=1)["work"]
    assert (work["withheld"], datetime.fromisoformat(work["oldest_withheld"])) == (2, oldest)
    with store.transaction() as transaction:
        transaction.drop_records(WITHHELD_PUBLISHES, ["c1", "c2"])
    assert "withheld publishes   0\n" in deployed.run("status", exit_code=1)

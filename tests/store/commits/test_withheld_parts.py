"""Withheld publishes of parts that are renamed, removed or pruned."""

from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from tests.scheduler.commands.renaming import app, planned, put
from tests.store.commits.sequences import FAILED
from tests.worlds.by import CLI
from tests.worlds.world import at
from tidegate.domain.model import App
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.records.withheld_publish import WITHHELD_PUBLISHES
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.retention.prune import prune
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.sql.store import SqlStore
from tidegate.scheduler.tick.tick import tick

NAMES = ("a/out", "a/load <- a/raw")


@pytest.fixture
def sql(tmp_path: Path):
    found = open_store(f"sqlite:///{tmp_path}/s.db", create=True)
    assert isinstance(found, SqlStore)
    put(found, "08:00", app())
    yield found
    found.close()


@pytest.fixture
def commits(sql: SqlStore) -> SqlCommitStepStore:
    store = SqlCommitStepStore(sql.engine)
    token = store.begin("job-1", NAMES, until=at("09:00"))
    moves = [("a/load", "a/raw", "", 1)]
    assert store.withhold("job-1", NAMES, token, "steps", moves, [FAILED], at("08:30")) == "stored"
    return store


def without_out() -> App:
    """The app without the dataset that the withheld publish would write."""
    found = app()
    rest = {name: each for name, each in found.datasets.items() if name != "out"}
    programs = {name: each for name, each in found.programs.items() if "out" not in each.writes}
    return msgspec.structs.replace(found, datasets=rest, programs=programs, schedules={})


CHANGES = {
    "a renamed program": lambda: {"a": app(load="l", load_from="load")},
    "a renamed dataset": lambda: {"a": app(out="o", out_from="out")},
    "a removed dataset": lambda: {"a": without_out()},
    "a removed app": lambda: {},
}


@pytest.mark.parametrize("change", CHANGES)
def test_it_is_in_the_way_of_a_rename_and_of_a_removal_and_is_abandoned_by_force(
    sql: SqlStore, commits: SqlCommitStepStore, change: str
) -> None:
    wanted = CHANGES[change]()
    with (
        pytest.raises(
            Refused, match="cannot be renamed or removed: commit job-1 of it is withheld"
        ) as refused,
        sql.transaction() as transaction,
    ):
        deploy(transaction, wanted, at("09:00"), by=CLI)
    assert "tidegate commits release job-1" in refused.value.hint
    assert commits.withheld("job-1") is not None

    with sql.transaction() as transaction:
        deploy(transaction, wanted, at("09:00"), force=True, by=CLI)
    assert (commits.withheld("job-1"), commits.list_withheld()) == (None, ())
    with sql.reading() as reader:
        assert reader.records(WITHHELD_PUBLISHES) == ()
        (entry,) = reader.journal(kinds=(EntryKind.COMMIT,))
    assert entry.data["action"] == "abandon" and entry.data["commit"] == "job-1" and entry.data["withheld"]

    token = commits.begin("job-1", ["a/o"], until=at("10:00"))
    assert commits.withhold("job-1", ["a/o"], token, "again", (), [FAILED], at("09:30")) == "stored"


def test_it_is_not_in_the_way_of_other_parts(sql: SqlStore, commits: SqlCommitStepStore) -> None:
    put(sql, "09:00", app(rest="r", rest_from="rest"))
    assert commits.withheld("job-1") is not None


def test_a_plan_names_it(sql: SqlStore, commits: SqlCommitStepStore) -> None:
    assert [each.forcible for each in planned(sql, without_out()).blocked] == [True]


def test_its_job_is_not_pruned(sql: SqlStore, commits: SqlCommitStepStore) -> None:
    jobs = [
        Job(
            id=id,
            schedule="a/s",
            key="",
            opened_at=at("07:00"),
            state=JobState.FAILED,
            ended_at=at("08:30"),
        )
        for id in ("job-1", "job-2")
    ]
    with sql.transaction() as transaction:
        transaction.put_jobs(jobs)
    keep = Keep(finished_jobs=timedelta(days=1))
    later = at("08:00") + timedelta(days=30)
    tick(sql, later)
    prune(sql, keep, later)
    with sql.reading() as reader:
        assert [job.id for job in reader.jobs(ids=["job-1", "job-2"])] == ["job-1"]

"""P13 of the crash table: a driver dies as it withholds a publish, and a person's process as it releases one.

Withholding, releasing and abandoning are one transaction each. So a death before it has changed nothing, and
one after it is as good as its end: a released publish is finished by any process that comes next.
"""

from collections.abc import Callable
from typing import Any

import pytest

from tests import tally
from tests.crashes.processes import SIGKILL, end, kill_self
from tests.crashes.strikes import Strike, after, before, before_commit_of
from tests.effort import only
from tests.spark_jobs.crash_table import driver
from tests.spark_jobs.crash_table.points import BOTH
from tests.spark_jobs.crash_table.test_crash_table import Case
from tests.spark_jobs.crash_table.test_crash_table import case as case
from tests.spark_jobs.crash_table.test_crash_table import cases as cases
from tests.store.commits.sequences import FAILED
from tidegate.domain.commits import CheckVerdict
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.spark_jobs import runner
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, dataset_ref
from tidegate.spark_jobs.errors import PublishWithheld
from tidegate.spark_jobs.publication.release import abandon_withheld, release_withheld
from tidegate.spark_jobs.publication.table import Publication

pytestmark = [pytest.mark.spark, pytest.mark.endurance]  # drivers are killed one after the other

Install = Callable[[Strike], None]
POINTS: dict[str, tuple[tuple[Install, bool], ...]] = {
    "withhold": (
        (before(SqlCommitStepStore, "withhold"), False),
        (before_commit_of("INSERT INTO commit_withheld"), False),
        (after(SqlCommitStepStore, "withhold"), True),
    ),
    "put_withheld": (
        (before(SqlCommitStepStore, "put_withheld"), False),
        (before_commit_of("INSERT INTO commit_sequences"), False),
        (after(SqlCommitStepStore, "put_withheld"), True),
    ),
    "abandon_withheld": (
        (before(SqlCommitStepStore, "abandon_withheld"), False),
        (before_commit_of("DELETE FROM commit_withheld"), False),
        (after(SqlCommitStepStore, "abandon_withheld"), True),
    ),
}
"""Each point, and whether the transaction is done by then."""


class Withholding(Publication):
    """A publication with a check that fails."""

    def publish(self) -> Any:
        self._judge = _fails
        return super().publish()


def _fails(_: object) -> tuple[CheckVerdict, ...]:
    return (FAILED,)


def withholds() -> None:
    """From now on every run of this process withholds its publish."""
    runner.Publication = Withholding


def killed(case: Case, work: Callable[[], object], install: Install, prepare: Callable[[], None]) -> None:
    def prepared() -> None:
        prepare()
        install(kill_self)

    assert end(driver.start(work, prepared)) == SIGKILL, "the point was not met"
    tally.reach("kills of Spark writers")


def decide(case: Case, decision: Callable[..., object], commit: str) -> None:
    """What `tidegate commits` does with a withheld commit."""
    project = case.project
    store = project.store()
    context = CommitContext(files=project.warehouse.files, spark=lambda: project.spark, watermarks=store)
    refs: dict[str, DatasetRef] = {
        ref.id: ref for ref in (dataset_ref(project.app, each) for each in project._written())
    }
    decision(commit, store, project.warehouse, context, refs)


@pytest.mark.parametrize("kind", only(BOTH, "iceberg"))  # the transactions are those of the store
def test_each_transaction_is_done_or_has_changed_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    project = case.project
    new, commit = case.land(2), case.commit()
    for install, done in POINTS["withhold"]:
        killed(case, lambda: project.load(commit), install, withholds)
        case.sees_whole_states([])
        assert (project.store().withheld(commit) is not None) is done
        project.clear()
    assert project.rubbish() != [], "the staging of what is withheld is kept"

    for install, done in POINTS["abandon_withheld"]:
        killed(case, lambda: decide(case, abandon_withheld, commit), install, lambda: None)
        assert (project.store().withheld(commit) is None) is done
    project.clear()
    assert project.rubbish() == []

    # The next attempt has the same id, and is withheld as well.
    with monkeypatch.context() as patch, pytest.raises(PublishWithheld):
        patch.setattr(runner, "Publication", Withholding)
        project.load(commit)
    for install, done in POINTS["put_withheld"]:
        killed(case, lambda: decide(case, release_withheld, commit), install, lambda: None)
        case.sees_whole_states(new)
        assert (project.store().get(commit) is not None) is done
        assert (project.store().withheld(commit) is None) is done
        if not done:
            project.clear()
    case.recover()
    case.done += new
    project.check(case.done)
    assert project.rubbish() == []
    case.loaded(case.commit(), case.land())

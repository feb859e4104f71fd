"""The commit id of a run: runs with the same id do the same work.

    the run of a job             the job's commit id, for every attempt (`scheduler.model.work_of_job`)
    an external run              its own id, for each program that it executes
    re-execution after failure   the id of the failed run: what it published is found, not repeated
    re-execution after success   its own id, so everything is computed again; but an append keeps the
                                 id and is not repeated, unless the program reads incrementally

An asset that `TidegateIOManager` publishes has an id of run, step and partitions by the same rules.

Only the parent run counts, and only its result: a retry of a run that was computing again
continues that run's work. A retried step is the same run. The id of an abandoned commit cannot
be used again; `spark_jobs.commit.publish` defines its successor. Dagster stores these ids as
`DATA_VERSION_TAG`, and the ids of the engine's events contain them.
"""

from typing import NamedTuple

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tidegate.dagster_defs.deployed.asset_plan import ProgramAssets
from tidegate.dagster_defs.deployed.tags import commit_of

ANCESTORS_MAX = 1000
"""The maximum length of a chain of re-executions; older ancestors are ignored."""


class Origin(NamedTuple):
    """The run whose work a run does: itself, or the ancestor that it continues.

    Attributes:
        commit: the commit id of the job that it ran; None if it ran none.
    """

    run_id: str
    commit: str | None


def origin_of(run: DagsterRun, instance: DagsterInstance, *, adds: bool) -> Origin:
    """Return the run whose work this run does.

    Args:
        adds: repeating the work would add the same rows twice, so it is not repeated after a success either.
    """
    for _ in range(ANCESTORS_MAX):
        parent_id = run.get_parent_run_id()
        if parent_id is None:
            return Origin(run.run_id, commit_of(run.tags))
        parent = instance.get_run_by_id(parent_id)
        if parent is None:
            # The parent was deleted. Keeping the id is safer: nothing is repeated.
            return Origin(run.get_root_run_id() or parent_id, commit_of(run.tags))
        if parent.status is DagsterRunStatus.SUCCESS and not adds:
            break
        run = parent
    return Origin(run.run_id, None)


def own_commit_id(run_id: str, assets: ProgramAssets) -> str:
    """Return the commit id of an external run for one of its programs."""
    return f"{run_id}.{assets.app.name}.{assets.program.name}"


def adds_rows(assets: ProgramAssets) -> bool:
    """Return whether repeating the program's work would add the same rows twice.

    A program that reads incrementally does not find the same rows again.
    """
    if assets.program.incremental:
        return False
    return any(assets.app.datasets[name].write_mode() == "append" for name in assets.program.writes)

"""The commit id of a run: which runs do one and the same work, and which do it anew.

    the run of a job            the job's id, whatever its attempt
    a run by hand               its own, for each program that it runs
    run again after a failure   that of the run that failed: what it published is found, not repeated
    run again after a success   its own, so everything is computed anew; but what an append has
                                added is not added again, unless its inputs tell what is new

Only the run that it was executed again from counts, and only how that one ended: a retry of a
run that was computing anew goes on with that run's work. A step that is retried is the same
run. The id of a commit that somebody has abandoned is used up; `spark_jobs.commit.publish` says which
comes after it. Dagster knows these ids by `DATA_VERSION_TAG`, and the engine's events are made of them.
"""

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus

from tidegate.dagster_defs.definitions.asset_plan import ProgramAssets
from tidegate.dagster_defs.run.tags import JOB

ANCESTORS_MAX = 1000
"""Runs executed again from each other in one line; more are not looked at."""


def commit_id(run: DagsterRun, assets: ProgramAssets, instance: DagsterInstance) -> str:
    """The commit id of a program in a run."""
    adds = adds_rows(assets)
    for _ in range(ANCESTORS_MAX):
        parent_id = run.get_parent_run_id()
        if parent_id is None:
            return run.tags.get(JOB) or own_commit_id(run.run_id, assets)
        parent = instance.get_run_by_id(parent_id)
        if parent is None:
            # It was deleted. To repeat nothing is the safer guess.
            return run.tags.get(JOB) or own_commit_id(run.get_root_run_id() or parent_id, assets)
        if parent.status is DagsterRunStatus.SUCCESS and not adds:
            break
        run = parent
    return own_commit_id(run.run_id, assets)


def own_commit_id(run_id: str, assets: ProgramAssets) -> str:
    """The id of what a run by hand does for one of the programs that it runs."""
    return f"{run_id}.{assets.app.name}.{assets.program.name}"


def adds_rows(assets: ProgramAssets) -> bool:
    """Whether doing its work twice would add the same rows twice.

    A program that reads only what is new finds nothing more to add.
    """
    if assets.program.incremental:
        return False
    return any(assets.app.datasets[name].write_mode() == "append" for name in assets.program.writes)

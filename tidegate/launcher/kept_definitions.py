"""The definitions that runs of this process were executed with, for further runs of the same program.

Dagster reconstructs the code location of each run twice: for the whole job, and for the assets of the run.
What decides about ours is the code, the settings, the environment, the plan that was shipped with the run,
and what the run needs of it. A worker ends where code or settings have changed, and forgets all where it
gets another environment; the others are the key. So a further run of a program builds nothing, reads no
settings, and has the store open.
"""

from collections.abc import Hashable
from typing import Any

from dagster import DagsterRun

from tidegate.dagster_defs.definitions.run_scope import current_scope
from tidegate.dagster_defs.internals.execution import ReconstructableJob
from tidegate.dagster_defs.internals.origins import ModuleCodePointer
from tidegate.project.environment import MODULE

KEPT_MAX = 8
"""Of the programs that ran last: a plan that was shipped can have megabytes."""

_kept: dict[Hashable, tuple[Any, dict[Hashable, Any]]] = {}
"""Repositories with those of their jobs that were asked for; the one that was used last is the last."""


def keep_definitions() -> None:
    """Let Dagster reconstruct what a run of this process needs once, until it is forgotten."""
    job: Any = ReconstructableJob
    job.get_repository_definition = _repository
    job.get_definition = _job


def forget_definitions() -> None:
    """Forget all definitions."""
    _kept.clear()


def is_kept(run: DagsterRun) -> bool:
    """Return whether the definitions of a run are ours, and of a plan that was shipped with it."""
    code = run.job_code_origin
    pointer = None if code is None else code.repository_origin.code_pointer
    ours = isinstance(pointer, ModuleCodePointer) and pointer.module == MODULE
    return ours and run.has_repository_load_data


def _repository(of: ReconstructableJob) -> Any:
    return _entry(of)[0]


def _job(of: ReconstructableJob) -> Any:
    repository, jobs = _entry(of)
    if of not in jobs:
        jobs[of] = repository.get_maybe_subset_job_def(
            of.job_name, of.op_selection, of.asset_selection, of.asset_check_selection
        )
    return jobs[of]


def _entry(of: ReconstructableJob) -> tuple[Any, dict[Hashable, Any]]:
    key = of.repository, current_scope()
    _kept[key] = found = _kept.pop(key, None) or (of.repository.get_definition(), {})
    while len(_kept) > KEPT_MAX:
        del _kept[next(iter(_kept))]
    return found

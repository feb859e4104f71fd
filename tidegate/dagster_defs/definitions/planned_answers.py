"""What a code server answers of a planned location without making its definitions (`definitions.planned`).

    the snapshot of the repository      made from the plan
    the snapshot of its job of all      the same
    the job of some assets              of the definitions of their programs
    the run requests of the dispatcher  looked up among the programs that they name

Each replaced function asks whether the repository is a planned one, and is Dagster's own for every other.
As in `definitions.once` they are replaced only where Dagster is as expected.
"""

from collections.abc import Callable
from functools import cache, wraps
from typing import Any

from dagster import RepositoryDefinition, SensorDefinition, deserialize_value

from tidegate.dagster_defs.definitions.planned import PlannedRepository
from tidegate.dagster_defs.definitions.snapshot import Unlike
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.internals import repeated_work
from tidegate.dagster_defs.internals.origins import RemoteRepositoryOrigin


@cache
def answer_of_plans() -> bool:
    """Replace what answers of a repository; return False where nothing is, since Dagster is another one."""
    server = repeated_work.find(*repeated_work.CODE_SERVER)
    found = (
        snapshots_of_plans(server),
        jobs_of_parts(RepositoryDefinition),
        requests_of_parts(SensorDefinition),
        job_of_plans(server, repeated_work.find(*repeated_work.JOB_REPLY)),
    )
    known = [replace for replace in found if replace is not None]
    if len(known) < len(found):
        return False
    for replace in known:
        replace()
    return True


Replace = Callable[[], None]
"""Replaces a function of Dagster's."""


def planned_in(repository: Any) -> PlannedRepository | None:
    """Return what plans a repository; None of one whose definitions are made at its load."""
    data = getattr(repository, "_repository_data", None)
    return data if isinstance(data, PlannedRepository) else None


def planned_of(server: Any, origin: str) -> PlannedRepository | None:
    """Return what plans the repository that a code server is asked for; None too where it finds none."""
    try:
        return planned_in(server._get_repo_for_origin(deserialize_value(origin, RemoteRepositoryOrigin)))
    except Exception:  # noqa: BLE001 -- Dagster answers with the error
        return None


def snapshots_of_plans(server: Any) -> Replace | None:
    """Let a code server send the snapshot that is made from the plan."""
    name = "_get_serialized_external_repository_data"
    original: Any = getattr(server, name, None)
    if not repeated_work.takes(original, "self", "request") or not hasattr(server, "_get_repo_for_origin"):
        return None

    @wraps(original)
    def snapshot(self: Any, request: Any) -> str:
        planned = (
            planned_of(self, request.serialized_repository_python_origin) if request.defer_snapshots else None
        )
        try:
            return original(self, request) if planned is None else planned.text()
        except Unlike:
            return original(self, request)

    return lambda: setattr(server, name, snapshot)


def jobs_of_parts(repository: Any) -> Replace | None:
    """Let a repository make the job of some assets of their programs alone."""
    name = "get_maybe_subset_job_def"
    original: Any = getattr(repository, name, None)
    selections = ("op_selection", "asset_selection", "asset_check_selection")
    if not repeated_work.takes(original, "self", "job_name", *selections):
        return None

    @wraps(original)
    def job(
        self: Any,
        job_name: str,
        op_selection: Any = None,
        asset_selection: Any = None,
        asset_check_selection: Any = None,
    ) -> Any:
        planned = planned_in(self) if job_name == ALL_ASSETS_JOB and asset_selection else None
        part = None if planned is None else planned.part(asset_selection)
        return original(part or self, job_name, op_selection, asset_selection, asset_check_selection)

    return lambda: setattr(repository, name, job)


class Narrowed:
    """The context of a sensor whose repository has only the programs that its requests name."""

    def __init__(self, context: Any, repository: RepositoryDefinition) -> None:
        self._context = context
        self.repository_def = repository

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)


def requests_of_parts(sensor: Any) -> Replace | None:
    """Let the run requests of a sensor be looked up among the programs that they name."""
    name = "resolve_run_requests"
    original: Any = getattr(sensor, name, None)
    others = ("asset_selection", "dynamic_partitions_requests")
    if not repeated_work.takes(original, "self", "run_requests", "context", *others):
        return None

    @wraps(original)
    def resolved(
        self: Any, run_requests: Any, context: Any, asset_selection: Any, dynamic_partitions_requests: Any
    ) -> Any:
        planned, keys = planned_in(context.repository_def), set[Any]()
        if planned is not None and all(each.asset_selection for each in run_requests):
            keys = {key for each in run_requests for key in each.asset_selection}
        part = planned.part(keys) if planned is not None and keys else None
        context = context if part is None else Narrowed(context, part)
        return original(self, run_requests, context, asset_selection, dynamic_partitions_requests)

    return lambda: setattr(sensor, name, resolved)


def job_of_plans(server: Any, reply: Any) -> Replace | None:
    """Let a code server send the job of all assets that is made from the plan."""
    original: Any = getattr(server, "ExternalJob", None)
    if not repeated_work.takes(original, "self", "request", "_context") or not hasattr(
        server, "_get_repo_for_origin"
    ):
        return None
    if not callable(reply):
        return None

    @wraps(original)
    def job(self: Any, request: Any, _context: Any) -> Any:
        is_all = request.job_name == ALL_ASSETS_JOB
        planned = planned_of(self, request.serialized_repository_origin) if is_all else None
        try:
            if planned is not None:
                return reply(serialized_job_data=planned.job_texts[0])
        except Unlike:
            pass
        return original(self, request, _context)

    return lambda: setattr(server, "ExternalJob", job)

"""One instance in full: its upstream instances, consumers, partitions, attempts and history."""

from datetime import datetime
from typing import Any

from tidegate.domain.value import Value
from tidegate.scheduler.commands.tasks.instances import InstanceName, instance_named
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.view.partitions import written
from tidegate.scheduler.decision.view.upstream import diagnostics_of
from tidegate.scheduler.explain.attempts import Attempt, attempts
from tidegate.scheduler.explain.history import history_of
from tidegate.scheduler.explain.instances.awaited import (
    Awaited,
    awaited,
    consumers_of,
    status_since,
    upstream_of,
)
from tidegate.scheduler.explain.instances.facts import facts
from tidegate.scheduler.explain.names import find_task
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Diagnostic, Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.tick.load import load_apps


class Shown(Value, kw_only=True):
    """An instance with everything that the store knows of it.

    Attributes:
        partitions: what a run writes, by dataset.
        since: when its status became what it is.
    """

    job: Job
    instance: Instance
    since: datetime | None
    upstream: tuple[Awaited, ...]
    diagnostics: tuple[Diagnostic, ...]
    consumers: tuple[tuple[Job, str], ...]
    partitions: dict[str, tuple[str, ...]]
    attempts: tuple[Attempt, ...]
    history: tuple[Entry, ...]


def shown_instance(reader: EngineReader, task: str, scheduled: str, backfill: int) -> Shown:
    """Return an instance.

    Raises:
        UserError: there is no such task or instance.
    """
    state = find_task(reader, task)
    job = instance_named(reader, state, InstanceName(scheduled=scheduled, number=backfill))
    upstream = upstream_of(reader, [job]).get(job.id, ())
    return Shown(
        job=job,
        instance=job.of_task,
        since=status_since(reader, job),
        upstream=awaited(reader, upstream),
        diagnostics=diagnostics_of(upstream),
        consumers=consumers_of(reader, job),
        partitions=_partitions(reader, state, job.of_task),
        attempts=tuple(attempts(reader, job)),
        history=history_of(reader, job),
    )


def _partitions(reader: EngineReader, state: ScheduleState, instance: Instance) -> dict[str, tuple[str, ...]]:
    app = load_apps(reader, [state]).get(state.app)
    return {} if app is None or instance.empty else written(app, state.spec, instance)


def shown_json(shown: Shown) -> dict[str, Any]:
    """Return an instance as builtin values."""
    return {
        **facts(shown.job, shown.instance, shown.since),
        "upstream": shown.upstream,
        "diagnostics": shown.diagnostics,
        "consumers": [
            {"task": job.schedule, "key": job.key, "job": job.id, "status": status_of(job), "rule": rule}
            for job, rule in shown.consumers
        ],
        "partitions": shown.partitions,
        "attempts": shown.attempts,
        "history": shown.history,
    }

"""One instance in full, for `tidegate instances show`."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import typer

from tidegate.cli.operate.attempts import COLUMNS as ATTEMPT_COLUMNS
from tidegate.cli.operate.attempts import rows as attempt_rows
from tidegate.cli.operate.instance_text import facts, notes, reason_text, status_text
from tidegate.cli.printing import instant, print_table
from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.scheduler.commands.instances import InstanceName, instance_named
from tidegate.scheduler.decision.instances.actions import status_of
from tidegate.scheduler.decision.instances.partitions import written
from tidegate.scheduler.decision.instances.upstream import diagnostics_of
from tidegate.scheduler.explain.attempts import Attempt, attempts
from tidegate.scheduler.explain.history import history_of
from tidegate.scheduler.explain.instances import (
    Awaited,
    awaited,
    consumers_of,
    status_since,
    upstream_of,
)
from tidegate.scheduler.explain.names import find_task
from tidegate.scheduler.explain.no_edge import no_edge_help, no_edge_line
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Diagnostic, Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.protocol import Reader
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


def shown_instance(reader: Reader, task: str, scheduled: str, backfill: int) -> Shown:
    """Return an instance.

    Raises:
        UserError: there is no such task or instance.
    """
    state = find_task(reader, task)
    job = instance_named(reader, state, InstanceName(scheduled=scheduled, number=backfill))
    if job.instance is None:
        raise UserError(f"job {job.id} is not an instance of a task")
    upstream = upstream_of(reader, [job]).get(job.id, ())
    return Shown(
        job=job,
        instance=job.instance,
        since=status_since(reader, job),
        upstream=awaited(reader, upstream),
        diagnostics=diagnostics_of(upstream),
        consumers=consumers_of(reader, job),
        partitions=_partitions(reader, state, job.instance),
        attempts=tuple(attempts(reader, job)),
        history=history_of(reader, job),
    )


def _partitions(reader: Reader, state: ScheduleState, instance: Instance) -> dict[str, tuple[str, ...]]:
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


def print_shown(shown: Shown, address: str) -> None:
    """Print an instance for people.

    Args:
        address: of its run in Dagster; "" for none.
    """
    name = f"{shown.job.schedule} {shown.instance.key}"
    print_table(["instance", name], list(_fields(shown, address)))
    if shown.upstream or shown.diagnostics:
        typer.echo("\nUpstream:")
        rows = [
            [each.task, each.key, str(each.status).replace("_", " "), instant(each.since), each.rule]
            for each in shown.upstream
        ]
        rows += [[each.task, "-", each.code, "", each.rule] for each in shown.diagnostics]
        print_table(["task", "scheduled", "status", "since", "rule"], rows)
        for each in shown.diagnostics:
            typer.echo(f"{no_edge_line(each)}\n  {no_edge_help(each, shown.job)}")
    if shown.consumers:
        typer.echo("\nConsumers:")
        print_table(
            ["task", "scheduled", "status", "rule"],
            [[job.schedule, job.key, status_text(job), rule] for job, rule in shown.consumers],
        )
    if shown.attempts:
        typer.echo("\nAttempts:")
        print_table(ATTEMPT_COLUMNS, attempt_rows(shown.attempts))
    if shown.history:
        typer.echo("\nHistory:")
        print_table(["at", "entry", "reason", "data"], [_entry(entry) for entry in shown.history])


def _fields(shown: Shown, address: str) -> Iterator[list[str]]:
    job, instance = shown.job, shown.instance
    reason = reason_text(job)
    because = f"  {reason}: {job.reason.summary}" if reason and job.reason is not None else ""
    yield ["status", f"{status_text(job)} since {instant(shown.since)}{because}"]
    yield ["scheduled", f"{instance.key}  ({instant(instance.scheduled)})"]
    yield ["start", instant(instance.start)]
    yield ["business date", instance.business_date]
    kind = [] if instance.number or instance.kind == "outside" else [str(instance.kind)]
    yield ["kind", ", ".join((*kind, *notes(instance)))]
    yield ["attempt", str(instance.attempt)]
    if job.run_id is not None:
        yield ["run", job.run_id]
    if address:
        yield ["address", address]
    for dataset, keys in shown.partitions.items():
        yield ["writes", f"{dataset}: {', '.join(key or 'unpartitioned' for key in keys)}"]
    yield ["job", job.id]
    if job.detail:
        yield ["detail", job.detail]


_NOT_SHOWN = ("instance", "key", "upstream", "diagnostics", "resources")
"""Data of entries that the other tables have."""


def _entry(entry: Entry) -> list[str]:
    known = {name: value for name, value in entry.data.items() if name not in _NOT_SHOWN}
    data = ", ".join(f"{name}={value}" for name, value in known.items() if value not in (None, "", False))
    return [instant(entry.at), entry.kind.value, entry.reason or "", data]

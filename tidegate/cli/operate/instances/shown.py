"""One instance in full, as text for `tidegate instances show`."""

from collections.abc import Iterator

import typer

from tidegate.cli.operate.history import COLUMNS as ATTEMPT_COLUMNS
from tidegate.cli.operate.history import rows as attempt_rows
from tidegate.cli.printing import instant, print_table
from tidegate.listings.shown_instance import ShownInstance
from tidegate.listings.shown_job import JournalLine
from tidegate.scheduler.explain.instances.facts import status_text
from tidegate.scheduler.explain.instances.no_edge import no_edge_help, no_edge_line
from tidegate.scheduler.model.job import Job


def print_shown(job: Job, shown: ShownInstance, address: str) -> None:
    """Print an instance for people.

    Args:
        address: of its run in Dagster; "" for none.
    """
    name = f"{shown.task} {shown.scheduled}"
    print_table(["instance", name], list(_fields(job, shown, address)))
    if shown.upstream or shown.diagnostics:
        typer.echo("\nUpstream:")
        rows = [
            [each.task, each.key, str(each.status).replace("_", " "), instant(each.since), each.rule]
            for each in shown.upstream
        ]
        rows += [[each.task, "-", each.code, "", each.rule] for each in shown.diagnostics]
        print_table(["task", "scheduled", "status", "since", "rule"], rows)
        for each in shown.diagnostics:
            typer.echo(f"{no_edge_line(each)}\n  {no_edge_help(each, job)}")
    if shown.consumers:
        typer.echo("\nConsumers:")
        print_table(
            ["task", "scheduled", "status", "rule"],
            [[each.task, each.key, each.status.replace("_", " "), each.rule] for each in shown.consumers],
        )
    if shown.attempts:
        typer.echo("\nAttempts:")
        print_table(ATTEMPT_COLUMNS, attempt_rows(shown.attempts))
    if shown.history:
        typer.echo("\nHistory:")
        print_table(["at", "entry", "reason", "data"], [_entry(entry) for entry in shown.history])


def _fields(job: Job, shown: ShownInstance, address: str) -> Iterator[list[str]]:
    because = f"  {shown.reason}: {job.reason.summary}" if shown.reason and job.reason is not None else ""
    yield ["status", f"{status_text(job)} since {instant(shown.since)}{because}"]
    yield ["scheduled", f"{shown.scheduled}  ({instant(shown.scheduled_at)})"]
    yield ["start", instant(shown.start)]
    yield ["business date", shown.business_date]
    kind = [shown.kind] if shown.kind == "periodic" else []
    yield ["kind", ", ".join((*kind, *shown.notes))]
    yield ["attempt", str(shown.attempt)]
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


def _entry(entry: JournalLine) -> list[str]:
    known = {name: value for name, value in entry.data.items() if name not in _NOT_SHOWN}
    data = ", ".join(f"{name}={value}" for name, value in known.items() if value not in (None, "", False))
    return [instant(entry.at), entry.kind, entry.reason or "", data]

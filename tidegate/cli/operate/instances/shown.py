"""One instance in full, as text for `tidegate instances show`."""

from collections.abc import Iterator

import typer

from tidegate.cli.operate.attempts import COLUMNS as ATTEMPT_COLUMNS
from tidegate.cli.operate.attempts import rows as attempt_rows
from tidegate.cli.operate.instances.text import notes, status_text
from tidegate.cli.printing import instant, print_table
from tidegate.scheduler.explain.instances.facts import reason_text
from tidegate.scheduler.explain.instances.no_edge import no_edge_help, no_edge_line
from tidegate.scheduler.explain.instances.shown import Shown
from tidegate.scheduler.model.journal import Entry


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

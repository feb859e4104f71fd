"""`tidegate instances`: list and show the instances of cycle tasks, and repair them by hand.

An instance is named by its task and its scheduled time, one of a backfill by the number of the backfill
too.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.operate.history import COLUMNS as ATTEMPT_COLUMNS
from tidegate.cli.operate.history import rows as attempt_rows
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    ReasonOption,
    instant,
    print_json,
    print_line,
    print_table,
)
from tidegate.listings.instances import INSTANCES, RUNNING_DAY
from tidegate.listings.shown_instance import ShownInstance
from tidegate.listings.shown_job import JournalLine
from tidegate.scheduler.explain.instances.facts import no_edge_help, no_edge_line, status_text
from tidegate.scheduler.model.job import Job

if TYPE_CHECKING:
    from tidegate.scheduler.decision.instances.actions import Action


TaskArgument = Annotated[str, typer.Argument(help='"app/task", or the task alone if only one app has it.')]
ScheduledArgument = Annotated[
    str, typer.Argument(help="Its scheduled time, for example 2026-03-10 or 2026-03-10-10:00.")
]
BackfillOption = Annotated[
    int | None, typer.Option(min=1, max=NUMBER_MAX, help="The number of its backfill.")
]

app = typer.Typer(no_args_is_help=True, help="List, show, mark, pause, resume and rerun instances of tasks.")


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    """Return what is listed: without a day, statuses and a backfill the running day of each task."""
    of_today = given.keys().isdisjoint(("day", "status", "backfill"))
    asked = {**given, "day": RUNNING_DAY} if of_today else given
    return Parts([Part("", asked)], "No instances; `tidegate tasks list` shows when the next ones come.")


app.command("list")(
    list_command(
        replace(INSTANCES, order=tuple(f"-{name}" for name in INSTANCES.order)),
        _parts,
        limit=500,
        argument="task",
        help="List the instances of a day (today), of a backfill, or in some statuses, by scheduled time.",
        oldest_first=True,
    )
)


@app.command("show")
def show_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show one instance: its times, its upstream instances, its consumers, its partitions and its history."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.shown_instance import shown_instance
    from tidegate.processes.server_address import run_address
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.tasks.instances import InstanceName, instance_named
    from tidegate.scheduler.explain.names import find_task

    with opened_store() as store, store.reading() as reader:
        name = InstanceName(scheduled=scheduled, number=backfill or 0)
        job = instance_named(reader, find_task(reader, task, or_schedule=bool(backfill)), name)
        shown = shown_instance(reader, job)
        use_zone_of_apps(reader, [job.app])
    if format is Format.JSON:
        print_json(shown)
        return
    print_shown(job, shown, run_address(load_settings(), job.run_id))


@app.command("mark")
def mark_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    reason: ReasonOption = "",
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Mark an instance as successful, without a run: its consumers go on."""
    from tidegate.scheduler.decision.instances.actions import Action

    _act(task, scheduled, Action.MARK_SUCCESSFUL, reason, backfill, format)


@app.command("pause")
def pause_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    reason: ReasonOption = "",
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Pause an instance; its run is stopped, and can no longer publish."""
    from tidegate.scheduler.decision.instances.actions import Action

    _act(task, scheduled, Action.PAUSE, reason, backfill, format)


@app.command("resume")
def resume_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    reason: ReasonOption = "",
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Resume a paused instance: it is gated again, and runs in a new attempt."""
    from tidegate.scheduler.decision.instances.actions import Action

    _act(task, scheduled, Action.RESUME, reason, backfill, format)


@app.command("rerun")
def rerun_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    downstream: Annotated[
        bool, typer.Option("--downstream", help="Run its consumers again too, and theirs.")
    ] = False,
    reason: ReasonOption = "",
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Run a finished instance again, with or without its consumers, in a new attempt each."""
    from tidegate.scheduler.decision.instances.actions import Action

    _act(task, scheduled, Action.RERUN, reason, backfill, format, downstream=downstream)


def _act(
    task: str,
    scheduled: str,
    action: "Action",
    reason: str,
    backfill: int | None,
    format: Format,
    *,
    downstream: bool = False,
) -> None:
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.queries.instances import shown_now
    from tidegate.scheduler.commands.tasks.instances import InstanceName, act
    from tidegate.scheduler.explain.names import find_task

    now, name = datetime.now(UTC), InstanceName(scheduled=scheduled, number=backfill or 0)
    with opened_store() as store, store.transaction() as transaction:
        state = find_task(transaction, task, or_schedule=bool(backfill))
        changed = act(transaction, state.ref, name, action, now, by_hand(reason), downstream=downstream)
        if format is Format.JSON:
            print_json([shown_now(transaction, job) for job in changed])
            return
    _print_changed(changed, held=not state.active)


def _print_changed(changed: "Sequence[Job]", *, held: bool) -> None:
    from tidegate.scheduler.explain.instances.facts import notes
    from tidegate.scheduler.model.instance import Status

    for job in changed:
        if job.instance is None:
            continue
        status = status_text(job)
        again = status == str(Status.NOT_RUN).replace("_", " ")
        attempt = f", attempt {job.instance.attempt}" if again and job.instance.attempt else ""
        follows = "; the next tick gates it again" if again else ""
        said = "".join(f", {note}" for note in notes(job.instance))
        print_line(f"{job.schedule} {job.instance.key} is {status}{attempt}{said}{follows}")
    if held and changed and changed[0].state == "PENDING_TRIGGER":
        print_line(f"its task is suspended: `tidegate schedules resume {changed[0].schedule}` lets it run")


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

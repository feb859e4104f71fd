"""`tidegate instances`: list and show the instances of cycle tasks, and repair them by hand.

An instance is named by its task and its scheduled time, one of a backfill by the number of the backfill too.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    ReasonOption,
    print_json,
    print_line,
    print_table,
)

if TYPE_CHECKING:
    from tidegate.scheduler.decision.instances.actions import Action
    from tidegate.scheduler.model.instance import Status
    from tidegate.scheduler.model.job import Job

DEFAULT_LIMIT = 500

TaskArgument = Annotated[str, typer.Argument(help='"app/task", or the task alone if only one app has it.')]
ScheduledArgument = Annotated[
    str, typer.Argument(help="Its scheduled time, for example 2026-03-10 or 2026-03-10-10:00.")
]
BackfillOption = Annotated[
    int | None, typer.Option(min=1, max=NUMBER_MAX, help="The number of its backfill.")
]

app = typer.Typer(no_args_is_help=True, help="List, show, mark, pause, resume and rerun instances of tasks.")


@app.command("list")
def list_instances(
    task: Annotated[str | None, typer.Argument(help="Only instances of this task.")] = None,
    app: Annotated[str | None, typer.Option(help="Only instances of this app.")] = None,
    day: Annotated[
        str | None, typer.Option(help="Scheduled on this day of the task's zone. Default: today.")
    ] = None,
    status: Annotated[
        str, typer.Option(help="Only in these statuses, of any day: failed,waiting", metavar="STATUS,…")
    ] = "",
    backfill: BackfillOption = None,
    limit: Annotated[
        int, typer.Option(min=1, max=NUMBER_MAX, help="Maximum number, the newest.")
    ] = DEFAULT_LIMIT,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the instances of a day, of a backfill, or those in some statuses, by scheduled time."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.instances.text import COLUMNS, row
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.scheduler.explain.instances.awaited import status_since
    from tidegate.scheduler.explain.instances.facts import facts
    from tidegate.scheduler.explain.instances.listed import Listed, listed_instances

    wanted = Listed(task=task, app=app, day=day, statuses=_statuses(status), backfill=backfill or 0)
    with opened_store() as store, store.reading() as reader:
        found = listed_instances(reader, wanted, datetime.now(UTC))
        jobs = [(job, job.instance) for job in found[-limit:] if job.instance is not None]
        since = {job.id: status_since(reader, job) for job, _ in jobs}
        use_zone_of_apps(reader, {job.app for job, _ in jobs})
    if format is Format.JSON:
        print_json([facts(job, instance, since[job.id]) for job, instance in jobs])
        return
    if not jobs:
        typer.echo("No instances; `tidegate tasks list` shows when the next ones come.")
        return
    print_table(COLUMNS, [row(job, instance, since[job.id]) for job, instance in jobs], right=["attempt"])
    if len(found) > limit:
        typer.echo(f"\nThe newest {limit} of {len(found)}; --limit shows more.")


@app.command("show")
def show_instance(
    task: TaskArgument,
    scheduled: ScheduledArgument,
    backfill: BackfillOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show one instance: its times, its upstream instances, its consumers, its partitions and its history."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.instances.shown import print_shown
    from tidegate.processes.run_address import run_address
    from tidegate.project.local_time import use_zone_of_apps
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.instances.shown import shown_instance, shown_json

    with opened_store() as store, store.reading() as reader:
        shown = shown_instance(reader, task, scheduled, backfill or 0)
        use_zone_of_apps(reader, [shown.job.app])
    if format is Format.JSON:
        print_json(shown_json(shown))
        return
    print_shown(shown, run_address(load_settings(), shown.job.run_id))


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
    from tidegate.scheduler.commands.tasks.instances import InstanceName, act
    from tidegate.scheduler.explain.instances.awaited import status_since
    from tidegate.scheduler.explain.instances.facts import facts
    from tidegate.scheduler.explain.names import find_task

    now, name = datetime.now(UTC), InstanceName(scheduled=scheduled, number=backfill or 0)
    with opened_store() as store, store.transaction() as transaction:
        state = find_task(transaction, task)
        changed = act(transaction, state.ref, name, action, now, by_hand(reason), downstream=downstream)
        if format is Format.JSON:
            since = {job.id: status_since(transaction, job) for job in changed}
            print_json([facts(job, job.instance, since[job.id]) for job in changed if job.instance])
            return
    _print_changed(changed, held=not state.active)


def _print_changed(changed: "Sequence[Job]", *, held: bool) -> None:
    from tidegate.cli.operate.instances.text import notes, status_text
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


def _statuses(text: str) -> "frozenset[Status]":
    from tidegate.scheduler.explain.instances.listed import statuses_of
    from tidegate.scheduler.model.refused import UnknownName

    try:
        return statuses_of(text)
    except UnknownName as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}") from error

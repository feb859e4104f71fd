"""`tidegate tasks`: the deployed cycle tasks, their times, their upstream tasks and their next instance."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, print_json, print_table

if TYPE_CHECKING:
    from tidegate.domain.model import TaskTrigger

app = typer.Typer(no_args_is_help=True, help="List the cycle tasks.")


@app.callback()
def tasks() -> None:
    """List the cycle tasks."""


@app.command("list")
def list_tasks(
    app: Annotated[str | None, typer.Option(help="Only tasks of this app.")] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """List the deployed tasks; `tidegate instances list` shows their instances."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.cli.operate.instances.task_text import no_upstream, times_text, upstream_text
    from tidegate.scheduler.explain.instances.task_facts import task_facts
    from tidegate.scheduler.explain.names import find_app

    with opened_store() as store, store.reading() as reader:
        app = find_app(reader, app)
        found = [(state, state.spec.task) for state in reader.schedules(app=app)]
    now = datetime.now(UTC)
    states = [(state, task) for state, task in found if task is not None]
    if format is Format.JSON:
        print_json([task_facts(state, task, now) for state, task in states])
        return
    if not states:
        typer.echo("No tasks are deployed.")
        return
    print_table(
        ["task", "type", "cycle", "at", "upstream", "status", "next instance"],
        [
            [
                state.ref,
                task.type + (f" ({task.update})" if task.update else ""),
                task.cycle,
                times_text(state.spec) or "-",
                ", ".join(upstream_text(each) for each in task.depends_on) or no_upstream(task),
                state.status if task.enabled else "disabled",
                _next(task, now),
            ]
            for state, task in states
        ],
    )


def _next(task: "TaskTrigger", now: datetime) -> str:
    """Return the next instance and its start time, in the task's zone where they differ."""
    from tidegate.cli.printing import instant
    from tidegate.domain.tasks.key import scheduled_key
    from tidegate.scheduler.explain.instances.task_facts import next_slot

    slot = next_slot(task, now)
    if slot is None:
        return "-"
    return f"{scheduled_key(task, slot.scheduled)}, starts {instant(slot.start, task.timezone)}"

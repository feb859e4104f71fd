"""`tidegate maintenance plan`: what the next polls would start, in order, and what holds the rest back."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.printing import Format, FormatOption, instant, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.explain.operations.planned import PlannedPoll, PlannedStart

DEFAULT_POLLS = 2
"""A table that is measured first is started by the second poll."""

POLLS_MAX = 100


def plan_polls(
    polls: Annotated[
        int, typer.Option(min=1, max=POLLS_MAX, help="The number of polls to show.")
    ] = DEFAULT_POLLS,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what the next polls would start, by what was measured last, and what holds the rest back."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.operations.planned import planned_polls
    from tidegate.scheduler.tick.maintenance.policies import load_policies

    now = datetime.now(UTC)
    with opened_store() as store, store.reading() as reader:
        deployed = bool(load_policies(reader, now).policies)
        found = planned_polls(reader, now, polls)
    if format is Format.JSON:
        print_json(found)
        return
    if not deployed:
        typer.echo("No policies are deployed.")
        return
    for number, poll in enumerate(found):
        if number:
            typer.echo("")
        _print_poll(poll, now)


def _print_poll(poll: "PlannedPoll", now: datetime) -> None:
    from tidegate.domain.wording import plural
    from tidegate.scheduler.model.reason import Reason

    if not poll.starts and not poll.held_back:
        typer.echo(f"Poll at {instant(poll.at)}: nothing is due.")
        return
    started = plural(len(poll.starts), "operation")
    typer.echo(f"Poll at {instant(poll.at)}: {started} to start, {sum(poll.held_back.values())} held back")
    if poll.starts:
        columns = ["table", "operation", "policy", "debt", "measured", "notes"]
        print_table(columns, [_row(start, now) for start in poll.starts], right=["debt"])
    for reason, count in poll.held_back.items():
        typer.echo(f"  {count} held back by {reason}: {Reason(reason).summary}")


def _row(start: "PlannedStart", now: datetime) -> list[str]:
    from tidegate.domain.wording import plural
    from tidegate.scheduler.explain.operations.measure_text import age_text, number_text

    measured = "unknown" if start.measured_at is None else f"{age_text(now - start.measured_at)} ago"
    notes = [name for name, holds in (("forced", start.forced), ("probe", start.probe)) if holds]
    if start.excluded:
        notes.append(f"without {plural(len(start.excluded), 'partition')} that pipelines write")
    return [
        start.table,
        str(start.operation),
        start.policy,
        number_text(start.debt),
        measured,
        ", ".join(notes),
    ]

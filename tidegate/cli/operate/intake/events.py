"""`tidegate events`: `list` the events in the store with the jobs that received them, or `replay` some.

Refused reports are listed with them, with the reason. Events are reported by Dagster, by runs and by crons.
`replay` feeds events of a dataset once more to schedules that have not collected them. One call is one
transaction. A call that would feed many events is rolled back, and repeated once a person agrees.
"""

from collections.abc import Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.printing import Format, FormatOption, ReasonOption, print_json, print_line
from tidegate.domain.error import UserError
from tidegate.domain.wording import plural
from tidegate.listings.events import EVENTS

if TYPE_CHECKING:
    from tidegate.scheduler.commands.existing_events import Replayed


ASKED_BEYOND = 100
"""More events than a person expects by mistake: each may be a run."""


class ManyEvents(UserError):
    """A replay that feeds more events than are fed without agreement."""


def replay(
    dataset: Annotated[
        str, typer.Argument(help='The dataset, as "app/dataset" or alone.', metavar="DATASET")
    ],
    key: Annotated[
        list[str] | None,
        typer.Option(help="Only this partition key; may be repeated. Default: all.", show_default=False),
    ] = None,
    from_: Annotated[
        str | None,
        typer.Option("--from", help="Only events that arrived then or later.", metavar="INSTANT"),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", help="Only events that arrived before.", metavar="INSTANT")
    ] = None,
    schedule: Annotated[
        list[str] | None,
        typer.Option(help="Only for this schedule; may be repeated. Default: all.", show_default=False),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also for schedules that have consumed the event in a run.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help=f"Do not ask, also beyond {ASKED_BEYOND} events.")
    ] = False,
    reason: ReasonOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Feed the events of a dataset once more to the schedules that count it and have not collected them."""
    from tidegate.cli.develop.deploy import at_terminal

    def feed(most: int | None) -> "tuple[Replayed, ...]":
        return _replay(dataset, key or [], (from_, to), schedule or [], again, reason, most)

    try:
        replayed = feed(None if yes else ASKED_BEYOND)
    except ManyEvents as many:
        if not at_terminal(format):
            raise
        typer.confirm(f"{many.message}. Feed them?", abort=True)
        replayed = feed(None)
    if format is Format.JSON:
        print_json(replayed)
        return
    for each in replayed:
        print_line(f"{each.schedule}: {_line(each, again)}")


def _replay(
    dataset: str,
    keys: list[str],
    arrived: tuple[str | None, str | None],
    schedules: list[str],
    again: bool,
    reason: str,
    most: int | None,
) -> "tuple[Replayed, ...]":
    """Replay in one transaction.

    Args:
        arrived: from when, and before when.
        most: so many events are fed; None for all.

    Raises:
        ManyEvents: there are more, and nothing was changed.
    """
    from tidegate.cli.opened_store import opened_store
    from tidegate.domain.time.instant import instant_of
    from tidegate.scheduler.commands.existing_events import EventsToReplay, replay_events
    from tidegate.scheduler.explain.names import find_dataset, find_schedule

    since, until = (
        None if text is None else instant_of(text, name)
        for text, name in zip(arrived, ("--from", "--to"), strict=True)
    )
    with opened_store() as store, store.transaction() as transaction:
        wanted = EventsToReplay(
            key=f"partition:{find_dataset(transaction, dataset)}",
            partitions=tuple(keys),
            since=since,
            until=until,
            schedules=tuple(find_schedule(transaction, name).ref for name in schedules),
            again=again,
        )
        replayed = replay_events(transaction, wanted, datetime.now(UTC), by_hand(reason))
        events = sum(each.events for each in replayed)
        if most is not None and events > most:
            to_whom = ", ".join(each.schedule for each in replayed if each.events)
            raise ManyEvents(
                f"this feeds {events:,} events to {to_whom}",
                "add --yes, or choose some with --key, --from, --to or --schedule",
            )
    return replayed


def _line(each: "Replayed", again: bool) -> str:
    if each.suspended:
        return f"suspended, collects nothing; resume it first: tidegate schedules resume {each.schedule}"
    known = "wait already" if again else "are collected already"
    return f"{plural(each.events, 'event')} to collect" + (f", {each.known} {known}" if each.known else "")


app = typer.Typer(no_args_is_help=True, help="List events, and feed them to schedules once more.")


@app.callback()
def events() -> None:
    """List events, and feed them to schedules once more."""


def _parts(given: Given, _: Collection[str]) -> Parts:
    nothing = "No events that match." if given else "No events."
    if given.keys() == {"key"}:
        nothing = f"No events with a key that begins with {given['key']}."
    return Parts([Part("", given)], nothing)


list_events = list_command(EVENTS, _parts, limit=50)
app.command("list")(list_events)
app.command("replay")(replay)

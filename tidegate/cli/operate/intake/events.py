"""`tidegate events`: `list` the events in the store with the jobs that received them, or `replay` some.

Refused reports are listed with them, with the reason. Events are reported by Dagster, by runs and by crons.
"""

from collections.abc import Collection

import typer

from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.operate.intake.replay import replay
from tidegate.listings.events import EVENTS

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

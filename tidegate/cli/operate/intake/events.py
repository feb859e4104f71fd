"""`tidegate events`: `list` the events in the store with the jobs that received them, or `replay` some.

Refused reports are listed with them, with the reason. Events are reported by Dagster, by runs and by crons.
"""

import typer

from tidegate.cli.operate.intake.event_list import list_events
from tidegate.cli.operate.intake.replay import replay

app = typer.Typer(no_args_is_help=True, help="List events, and feed them to schedules once more.")


@app.callback()
def events() -> None:
    """List events, and feed them to schedules once more."""


app.command("list")(list_events)
app.command("replay")(replay)

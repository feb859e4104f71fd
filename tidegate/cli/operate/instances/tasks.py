"""`tidegate tasks`: the deployed cycle tasks, their times, their upstream tasks and their next instance."""

import typer

from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import NUMBER_MAX
from tidegate.listings.tasks import TASKS

app = typer.Typer(no_args_is_help=True, help="List the cycle tasks.")


@app.callback()
def tasks() -> None:
    """List the cycle tasks."""


app.command("list")(
    list_command(
        TASKS,
        lambda given, _: Parts([Part("", given)], "No tasks are deployed."),
        limit=NUMBER_MAX,
        help="List the deployed tasks; `tidegate instances list` shows their instances.",
    )
)

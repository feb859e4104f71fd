"""The commands that are one list: `tidegate late`, `tidegate ledger` and `tidegate tasks`."""

from collections.abc import Collection

import typer

from tidegate.cli.listing import Given, Part, Parts, Short, list_command
from tidegate.cli.printing import NUMBER_MAX
from tidegate.listings.late import LATE
from tidegate.listings.ledger import LEDGER
from tidegate.listings.tasks import TASKS


def _late(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "Nothing is late." if given.get("now", True) else "Nothing was late.")


late = list_command(
    LATE,
    _late,
    limit=50,
    short={"all": Short("Also periods of datasets that have landed since: --no-now.", {"now": False})},
    missing_is_empty=True,
)

# landed = consumed by a run + pending in a job + discarded with a reason, and consumed = succeeded + running
# + failed with a reason. Both are sums of the counts in the store, so every printed row balances.
ledger = list_command(
    LEDGER,
    lambda given, _: Parts([Part("", given)], "No event has been delivered to a schedule yet."),
    limit=200,
    json_limit=NUMBER_MAX,
)

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

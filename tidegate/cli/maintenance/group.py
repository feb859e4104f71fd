"""`tidegate maintenance`: the health of tables, what the policies do about it, and runs by hand.

Tables are measured by runs in Dagster. These commands show what was measured last, and how long ago;
`tables` lists all.
"""

from collections.abc import Collection, Sequence

import typer

from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.maintenance.explain import explain_table
from tidegate.cli.maintenance.history import show_history
from tidegate.cli.maintenance.plan import plan_polls
from tidegate.cli.maintenance.run import run_operations
from tidegate.cli.maintenance.status import show_status
from tidegate.domain.wording import plural
from tidegate.listings.tables import TABLES, MaintainedTable


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "No tables are known.", _unknown)


def _unknown(found: Sequence[MaintainedTable]) -> str:
    number = sum(each.health is None or bool(each.failure) for each in found)
    return (
        f"Of {plural(number, 'table')} nothing is known: never measured, or written since." if number else ""
    )


list_tables = list_command(TABLES, _parts, limit=100)


SUMMARY = "Show the health of tables and what the policies do about it; run operations by hand."

app = typer.Typer(no_args_is_help=True, help=SUMMARY)

app.command("tables")(list_tables)
app.command("status")(show_status)
app.command("explain")(explain_table)
app.command("plan")(plan_polls)
app.command("run")(run_operations)
app.command("history")(show_history)

"""`tidegate maintenance`: the health of tables, what the policies do about it, and runs by hand.

Tables are measured by runs in Dagster. These commands show what was measured last, and how long ago.
"""

import typer

from tidegate.cli.maintenance.explain import explain_table
from tidegate.cli.maintenance.history import show_history
from tidegate.cli.maintenance.plan import plan_polls
from tidegate.cli.maintenance.run import run_operations
from tidegate.cli.maintenance.status import show_status
from tidegate.cli.maintenance.tables import list_tables

SUMMARY = "Show the health of tables and what the policies do about it; run operations by hand."

app = typer.Typer(no_args_is_help=True, help=SUMMARY)

app.command("tables")(list_tables)
app.command("status")(show_status)
app.command("explain")(explain_table)
app.command("plan")(plan_polls)
app.command("run")(run_operations)
app.command("history")(show_history)

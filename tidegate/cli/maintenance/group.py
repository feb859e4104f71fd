"""`tidegate maintenance`: the health of tables, what the policies do about it, and runs by hand.

Tables are measured by runs in Dagster. These commands show what was measured last, and how long ago;
`tables` lists all.
"""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.cli.maintenance.history import show_history
from tidegate.cli.maintenance.plan import plan_polls
from tidegate.cli.maintenance.run import run_operations
from tidegate.cli.maintenance.status import TableArgument, show_status
from tidegate.cli.printing import Format, FormatOption, print_json, print_table
from tidegate.domain.wording import plural
from tidegate.listings.tables import TABLES, MaintainedTable

if TYPE_CHECKING:
    from tidegate.scheduler.explain.operations.ranking import RankedPolicy

_RANKS = ("any", "glob", "exact")
"""What a component of a pattern is, by its rank."""


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "No tables are known.", _unknown)


def _unknown(found: Sequence[MaintainedTable]) -> str:
    number = sum(each.health is None or bool(each.failure) for each in found)
    return (
        f"Of {plural(number, 'table')} nothing is known: never measured, or written since." if number else ""
    )


list_tables = list_command(TABLES, _parts, limit=100)


def explain_table(table: TableArgument, format: FormatOption = Format.TEXT) -> None:
    """Show for each operation every policy that matches a table, which one counts, and why."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.names import find_table
    from tidegate.scheduler.explain.operations.ranking import ranked_policies

    with opened_store() as store, store.reading() as reader:
        found = find_table(reader, table)
        ranked = ranked_policies(reader, found, datetime.now(UTC))
    if format is Format.JSON:
        print_json({"table": found.name, "operations": ranked})
        return
    if not any(each.policies for each in ranked):
        typer.echo(f"No policy matches {found.name}.")
        return
    typer.echo(f"{found.name}:")
    print_table(
        ["operation", "policy", "priority", "pattern", "catalog, namespace, table", "", "because"],
        [
            [
                str(each.operation),
                policy.policy,
                str(policy.priority),
                policy.pattern,
                ", ".join(_RANKS[rank] for rank in policy.specificity),
                _status(policy),
                policy.because,
            ]
            for each in ranked
            for policy in each.policies
        ],
        right=["priority"],
    )


def _status(policy: "RankedPolicy") -> str:
    words = {
        "not configured": "does not configure it",
        "operation disabled": "has it with `enabled: false`",
        "policy disabled": "is disabled",
    }
    return words.get(policy.status, policy.status)


SUMMARY = "Show the health of tables and what the policies do about it; run operations by hand."

app = typer.Typer(no_args_is_help=True, help=SUMMARY)

app.command("tables")(list_tables)
app.command("status")(show_status)
app.command("explain")(explain_table)
app.command("plan")(plan_polls)
app.command("run")(run_operations)
app.command("history")(show_history)

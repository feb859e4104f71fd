"""`tidegate maintenance explain`: which policy counts for each operation on a table, and why."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import typer

from tidegate.cli.maintenance.status import TableArgument
from tidegate.cli.printing import Format, FormatOption, print_json, print_table

if TYPE_CHECKING:
    from tidegate.scheduler.explain.operations.ranking import RankedPolicy

_RANKS = ("any", "glob", "exact")
"""What a component of a pattern is, by its rank."""


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

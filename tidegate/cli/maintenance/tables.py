"""`tidegate maintenance tables`: the measured tables; how other commands name one."""

from collections.abc import Collection, Sequence
from typing import Annotated

import typer

from tidegate.cli.listing import Given, Part, Parts, list_command
from tidegate.domain.wording import plural
from tidegate.listings.tables import TABLES, MaintainedTable

TableArgument = Annotated[
    str,
    typer.Argument(
        help='The table: "catalog.namespace.table", "app/dataset", or its end if only one table has it.'
    ),
]


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "No tables are known.", _unknown)


def _unknown(found: Sequence[MaintainedTable]) -> str:
    number = sum(each.health is None or bool(each.failure) for each in found)
    return (
        f"Of {plural(number, 'table')} nothing is known: never measured, or written since." if number else ""
    )


list_tables = list_command(TABLES, _parts, limit=100)

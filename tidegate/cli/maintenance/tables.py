"""`tidegate maintenance tables`: the health and the debt of all tables, in a chosen order."""

from collections.abc import Collection, Sequence

from tidegate.cli.listing import Given, Part, Parts, list_command
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

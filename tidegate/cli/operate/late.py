"""`tidegate late`: what is late now, and which data was."""

from collections.abc import Collection

from tidegate.cli.listing import Given, Part, Parts, Short, list_command
from tidegate.listings.late import LATE


def _parts(given: Given, _forms: Collection[str]) -> Parts:
    return Parts([Part("", given)], "Nothing is late." if given.get("now", True) else "Nothing was late.")


late = list_command(
    LATE,
    _parts,
    limit=50,
    short={"all": Short("Also periods of datasets that have landed since: --no-now.", {"now": False})},
    missing_is_empty=True,
)

"""The parts of `tidegate why` that are about operations on tables."""

from datetime import datetime
from typing import TYPE_CHECKING

import typer

from tidegate.domain.model.operation import Operation

if TYPE_CHECKING:
    from tidegate.scheduler.explain.explanation import Explanation
    from tidegate.scheduler.store.engine_reader import EngineReader


def explained_operations(
    reader: "EngineReader", present: "EngineReader", name: str, which: str | None, moment: datetime
) -> "tuple[Explanation, ...] | None":
    """Explain the operations on a table.

    Args:
        reader: the store as it was at the moment.
        present: the store as it is: a past that was rebuilt from the journal has no tables.
        which: an operation; None for all.

    Returns:
        None if the name is not that of a table, or is that of a schedule or job too.

    Raises:
        UserError: an operation is named, and no such table is known.
    """
    from tidegate.domain.error import UserError
    from tidegate.scheduler.explain.names import find_table
    from tidegate.scheduler.explain.operations.why import explain_operations

    operation = Operation(which) if which in list(Operation) else None
    if operation is None and (which is not None or _is_known(reader, name)):
        return None
    try:
        table = find_table(present, name).name
    except UserError:
        if operation is not None:
            raise
        return None
    found = explain_operations(reader, table, moment, operation)
    if not found:
        what = "operation" if operation is None else str(operation)
        typer.echo(f"No {what} of {table} waits or runs, and no enabled policy configures it.", err=True)
    return found


def _is_known(reader: "EngineReader", name: str) -> bool:
    """Return whether a name is that of a schedule, a task or a job."""
    from tidegate.scheduler.explain.names import refs_named

    return bool("/" not in name and reader.jobs(ids=[name])) or bool(refs_named(reader, name))

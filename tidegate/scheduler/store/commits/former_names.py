"""Runs that were started before a rename: they must not publish under the former name.

A deployment renames only while no run has an open attempt. A run that begins later with the names of the
earlier deployment would move watermarks that belong to another name now, so its attempt is refused.
"""

import json
from collections.abc import Sequence

from sqlalchemy import Connection, select

from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.sql.tables import cursors

RECORD = "renamed"
"""The cursor that `scheduler.commands.deployment.rename` writes."""


def refuse_former_names(connection: Connection, names: Sequence[str]) -> None:
    """Refuse an attempt that names what has another name now.

    Raises:
        Refused: a dataset or program was renamed.
    """
    record = connection.execute(select(cursors.c.value).where(cursors.c.name == RECORD)).scalar()
    former: dict[str, str] = {} if record is None else json.loads(record).get("former", {})
    for part in (part for name in names for part in name.split(" <- ")):
        if part in former:
            raise Refused(
                f"{part} was renamed to {former[part]} after this run was started",
                "start a run of the new name",
            )

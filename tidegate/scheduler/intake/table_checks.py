"""What the recovery job has found of the tables: watermarks whose rows are gone, one record for each project.

The record is a cursor of the store. A check looks at a limited number of programs and goes on after the last
one at the next; what it finds stays in the record until a later check of the same program no longer finds it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from tidegate.domain.time.instant import is_recent
from tidegate.domain.value import Value
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

CHECK_EVERY = timedelta(hours=6)
"""From the end of one round over all programs to the next."""
CHECK_AGAIN = timedelta(minutes=10)
"""The same while something is wrong, or a round is not at its end."""
MAX_KEPT = 100
"""Findings in a record."""


class LostRowsFound(Value, kw_only=True):
    """A watermark whose rows are gone.

    Attributes:
        consumer: the program, "app/program".
        where: the watermark, for people.
        output: the dataset that lacks the rows, "app/dataset".
        fact, remedy: for people.
    """

    consumer: str
    where: str
    output: str
    fact: str
    remedy: str


class TableChecks(Value, kw_only=True):
    """The record of a project.

    Attributes:
        at: when the last check was made; aware, UTC.
        after: the program that it looked at last; "" at the end of a round.
    """

    at: datetime
    after: str = ""
    lost: tuple[LostRowsFound, ...] = ()

    def is_due(self, now: datetime) -> bool:
        """Return whether it is time for the next check."""
        return not is_recent(self.at, now, CHECK_AGAIN if self.after or self.lost else CHECK_EVERY)

    def with_programs(
        self, found: Mapping[str, Sequence[LostRowsFound]], known: Sequence[str], after: str, now: datetime
    ) -> "TableChecks":
        """Return the record after a check.

        Args:
            found: what was found, by each program that was looked at.
            known: all programs that there are.
        """
        kept = [one for one in self.lost if one.consumer not in found and one.consumer in known]
        new = [one for several in found.values() for one in several]
        return TableChecks(at=now, after=after, lost=tuple([*kept, *new][:MAX_KEPT]))


def table_checks(reader: EngineReader, project: str) -> TableChecks | None:
    """Return the record of a project; None before the first check."""
    noted: Any = reader.cursor(_cursor(project))
    return None if noted is None else msgspec.convert(noted, TableChecks)


def note_table_checks(store: Store, project: str, checks: TableChecks) -> None:
    """Write the record of a project."""
    with store.transaction() as transaction:
        transaction.set_cursor(_cursor(project), msgspec.to_builtins(checks))


def _cursor(project: str) -> str:
    return f"checked tables of {project}"

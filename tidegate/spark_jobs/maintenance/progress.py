"""What a running operation has done so far, and what ends it before its work is done.

An operation records each effect as soon as it has happened. So the report of a run that is stopped, or fails,
has what the run has changed.
"""

from dataclasses import dataclass, field
from typing import Any

from tidegate.spark_jobs.errors import SourceError, SparkJobError
from tidegate.spark_jobs.maintenance.request import Control

RACE_TRIES = 4
"""A lost race is tried again three times."""


class Yielded(Exception):
    """A pipeline needs the slot: the run ends between two commits, and what is left is done later."""


class TimedOut(Exception):
    """The timeout of the operation is over."""


class LostRace(Exception):
    """Other writers have changed what the operation has rewritten, each time."""


class MaintenanceRefused(SparkJobError):
    """The operation cannot be carried out on this table as it is."""


class TableGone(SparkJobError):
    """The table does not exist."""


class LandedFiles(SourceError):
    """The files of a dataset come from outside: no version of a table says which of them count."""


@dataclass(kw_only=True, slots=True)
class Progress:
    """What was changed so far; see `Ended`.

    Attributes:
        remark: for people, what a run that has not failed could not do.
    """

    control: Control
    changed: bool = False
    bytes: int = 0
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    remark: str = ""

    def pause(self) -> None:
        """Ask whether the run must end here, between two commits.

        Raises:
            TimedOut, Yielded: it must.
        """
        if self.control.should_stop():
            raise TimedOut
        if self.control.should_yield():
            raise Yielded

    def add(self, **counts: int) -> None:
        """Add numbers to the results; any that is not zero is a change."""
        for name, count in counts.items():
            self.results[name] = self.results.get(name, 0) + count
            self.changed = self.changed or count != 0

    def lose(self, groups: int) -> None:
        """Count groups of files that were rewritten in vain, since others have changed them meanwhile."""
        self.results["groups_lost"] = self.results.get("groups_lost", 0) + groups

    def not_applicable(self, why: str) -> None:
        """Record why there is nothing to do on such a table."""
        self.results["not_applicable"] = why

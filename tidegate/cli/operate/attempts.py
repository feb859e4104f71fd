"""The attempts of a job as rows of a table."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tidegate.cli.printing import instant

if TYPE_CHECKING:
    from tidegate.scheduler.explain.history import Attempt

COLUMNS = ["attempt", "run", "status", "started", "ended", "because"]


def rows(attempts: "Iterable[Attempt]") -> list[list[str]]:
    """Return a row for each attempt."""
    return [
        [
            str(each.attempt),
            each.run,
            each.status,
            instant(each.started),
            "" if each.status == "waits" else instant(each.ended),
            each.because,
        ]
        for each in attempts
    ]

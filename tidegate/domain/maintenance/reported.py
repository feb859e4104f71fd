"""What processes report of a table: its health, as it was measured, and the end of a run of an operation."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from tidegate.domain.value import Value


class Ending(StrEnum):
    """How a run of an operation ended.

    CONFLICT has lost the commit race, STOPPED has made room for a pipeline: both go on later, and are
    neither a success nor a failure.
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CONFLICT = "conflict"
    STOPPED = "stopped"


class Ended(Value, kw_only=True):
    """What a run of an operation reports at its end.

    Attributes:
        changed: whether it changed any file, byte, manifest, snapshot, delete or orphan file.
        bytes: that it rewrote.
        before, after: what was measured by the run itself, by measure.
        results: what the operation says of its work: files rewritten, snapshots kept and why, and so on.
        detail: for people: why it failed, or was stopped.
    """

    ending: Ending
    changed: bool = False
    bytes: int = 0
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    results: dict[str, Any] = {}
    detail: str = ""


class Health(Value, kw_only=True):
    """What was measured of a table.

    Attributes:
        values: by measure, in its unit; one that could not be measured is absent.
        failure: why nothing could be measured; "" if something was.
        failing_since: when the first of these failures in a row was; None if something was measured.
        note: for people: the bound of values that were extrapolated from a sample.
    """

    measured_at: datetime
    values: dict[str, float] = {}
    failure: str = ""
    failing_since: datetime | None = None
    note: str = ""

"""Deadlines: until when a job of a schedule or task has to succeed, and until when a dataset has landed."""

from datetime import time, timedelta
from typing import Literal

from tidegate.domain.model.place import At
from tidegate.domain.value import Value


class Deadline(Value, kw_only=True):
    """Until when a job has to succeed, or data has landed: a time of the day, or a span.

    Attributes:
        by: a wall time in the zone of the schedule: the first such time at or after the end of the
            job's key, the start time of an instance, or the opening of a job without a key. None: `within`.
            Of a dataset: in the zone of its partitions, at or after the end of each period.
        within: after the trigger was satisfied, or after the start of the run. Of a dataset: after the end
            of each period; without partitions since the last update.
        after: from what `within` counts; a dataset has only the default.
    """

    by: time | None = None
    within: timedelta | None = None
    after: Literal["trigger", "start"] = "trigger"
    at: At | None = None

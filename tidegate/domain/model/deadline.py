"""The deadline of a schedule or task: until when a job has to succeed."""

from datetime import time, timedelta
from typing import Literal

from tidegate.domain.model.place import At
from tidegate.domain.value import Value


class Deadline(Value, kw_only=True):
    """Until when a job has to succeed: a time of the day, or a span.

    Attributes:
        by: a wall time in the zone of the schedule: the first such time at or after the end of the
            job's key, the start time of an instance, or the opening of a job without a key. None: `within`.
        within: after the trigger was satisfied, or after the start of the run.
        after: from what `within` counts.
    """

    by: time | None = None
    within: timedelta | None = None
    after: Literal["trigger", "start"] = "trigger"
    at: At | None = None

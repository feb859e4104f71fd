"""The tags that a run carries, so that a person and the next tick know whose it is.

A run is one of ours when it has the tags of a job and an attempt and was not re-executed
from another run: a re-execution inherits its parent's tags but was asked for by somebody,
so it counts as started by hand.
"""

from collections.abc import Mapping

from tidegate.domain.model import Priority
from tidegate.domain.value import Value

APP = "tidegate/app"
SCHEDULE = "tidegate/schedule"
PROGRAM = "tidegate/program"
JOB = "tidegate/job"
ATTEMPT = "tidegate/attempt"
REASON = "tidegate/reason"
PARTITIONS = "tidegate/partitions"

COMMIT = "tidegate/commit"
"""In the metadata of a materialisation: the commit that published it."""

DATA_VERSION_TAG = "dagster/data_version"
DAGSTER_PRIORITY = "dagster/priority"
DAGSTER_PARENT_RUN = "dagster/parent_run_id"
DAGSTER_RANGE_START = "dagster/asset_partition_range_start"
DAGSTER_RANGE_END = "dagster/asset_partition_range_end"

PRIORITY_VALUES: Mapping[Priority, str] = {
    Priority.LOW: "-10",
    Priority.NORMAL: "0",
    Priority.HIGH: "10",
}
"""Dagster starts queued runs with the higher number first; gaps leave room for runs tagged by hand."""

TAG_VALUE_CHARACTERS = 200
"""Longer values are cut: a tag is shown in one line, and the whole truth stands in the store."""


class JobTag(Value, frozen=True, kw_only=True):
    """The job and attempt that a run was launched for."""

    job: str
    attempt: int


def job_of(tags: Mapping[str, str]) -> JobTag | None:
    """The job that a run with these tags belongs to; None for a run that somebody else started."""
    if JOB not in tags or DAGSTER_PARENT_RUN in tags:
        return None
    attempt = tags.get(ATTEMPT, "")
    return JobTag(job=tags[JOB], attempt=int(attempt)) if attempt.isdigit() else None


def shortened(text: str) -> str:
    """A text cut to what fits a tag."""
    return text if len(text) <= TAG_VALUE_CHARACTERS else text[: TAG_VALUE_CHARACTERS - 1] + "…"

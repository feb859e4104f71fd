"""The tags of a run, which identify its job for users and for the next tick.

A run belongs to a job when it has the tags of a job and an attempt and is not a re-execution:
a re-execution inherits its parent's tags but was requested by a person, so it counts as an
external run.
"""

from collections.abc import Mapping

from tidegate.domain.model import Priority
from tidegate.domain.value import Value

APP = "tidegate/app"
SCHEDULE = "tidegate/schedule"
PROGRAM = "tidegate/program"
PROJECT = "tidegate/project"
JOB = "tidegate/job"
ATTEMPT = "tidegate/attempt"
REASON = "tidegate/reason"
PARTITIONS = "tidegate/partitions"
TASK = "tidegate/task"
SCHEDULED = "tidegate/scheduled"
BUSINESS_DATE = "tidegate/business_date"
KIND = "tidegate/kind"
BACKFILL = "tidegate/backfill"
DIAGNOSTIC = "tidegate/diagnostic"
PROVISIONAL = "tidegate/provisional"
REPAIRS = "tidegate/repairs"
TABLE = "tidegate/table"
OPERATION = "tidegate/operation"
POLICY = "tidegate/policy"

KEY = "tidegate/key"

ORIGIN = "tidegate/origin"
"""Key of a tag that says what a run was launched for: schedule, task, backfill, policy, or by hand."""

COMMIT = "tidegate/commit"
"""Key in the metadata of a materialisation: the commit that published it. As a tag of a run: the commit id of
its job, if that is not the job's own id, since an instance was run again."""

EVENT = "tidegate/event"
"""Key in the metadata of a materialisation that the engine has reported to Dagster: the id of its event."""

EXISTING = "tidegate/existing"
"""Key of a tag of the runs of existing jobs. They have no lease and no claim; Dagster says how they end."""

LOST = "tidegate/lost"
"""Key of a tag of the run of an existing job: how many runs of its attempt before it never began."""

LAUNCH = ".dagster/tidegate_launch"
"""Key of a tag that Dagster's UI does not show: who launches the run (`launcher.launcher`)."""

DATA_VERSION_TAG = "dagster/data_version"
DAGSTER_PRIORITY = "dagster/priority"
DAGSTER_MAX_RETRIES = "dagster/max_retries"
DAGSTER_PARENT_RUN = "dagster/parent_run_id"
DAGSTER_PARTITION = "dagster/partition"
DAGSTER_RANGE_START = "dagster/asset_partition_range_start"
DAGSTER_RANGE_END = "dagster/asset_partition_range_end"

PRIORITY_VALUES: Mapping[Priority | None, str] = {
    None: "-20",
    Priority.LOW: "-10",
    Priority.NORMAL: "0",
    Priority.HIGH: "10",
}
"""Dagster starts queued runs with the higher number first; gaps leave room for runs tagged by hand."""

TAG_VALUE_CHARACTERS = 200
"""Longer values are cut: the UI shows a tag in one line, and the store has the full value."""


class JobTag(Value, frozen=True, kw_only=True):
    """The job and attempt of a run."""

    job: str
    attempt: int
    lost: int = 0


def job_of(tags: Mapping[str, str]) -> JobTag | None:
    """Return the job of a run with these tags; None for an external run."""
    if JOB not in tags or DAGSTER_PARENT_RUN in tags:
        return None
    attempt = tags.get(ATTEMPT, "")
    lost = tags.get(LOST, "0")
    if not attempt.isdigit() or not lost.isdigit():
        return None
    return JobTag(job=tags[JOB], attempt=int(attempt), lost=int(lost))


def commit_of(tags: Mapping[str, str]) -> str | None:
    """Return the commit id of the job of a run with these tags; None for a run that never had a job."""
    return tags.get(COMMIT, tags.get(JOB))


def shortened(text: str) -> str:
    """Return a text cut to the maximum length of a tag."""
    return text if len(text) <= TAG_VALUE_CHARACTERS else text[: TAG_VALUE_CHARACTERS - 1] + "…"

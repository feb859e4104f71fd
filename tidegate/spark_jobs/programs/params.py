"""The parameters of a run: its arguments, the partitions to write, and what it was launched for.

A program only reads these attributes. It does not import this class, so that it can be
called in a test with any object that has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tidegate.domain.upstream_run import UpstreamRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Params:
    """The parameters of one run.

    Attributes:
        args: the schedule's `args`, any JSON, with its references to the trigger resolved.
        partitions: the keys of the output partitions that this run writes; empty for outputs
            without partitions.
        manifest: for each dataset the keys that the run was launched for, exactly.
        upstream: the runs that triggered it, the newest last.
        scheduled_time: aware; when the job was due, for a cron schedule its fire time.
        business_date: the scheduled time minus one unit of the cycle, as a partition key.
        job: the job's key, or the run's id for a run started by hand.
        attempt: 1 for the first launch of the job.
    """

    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    partitions: tuple[str, ...] = ()
    manifest: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    upstream: tuple[UpstreamRun, ...] = ()
    scheduled_time: datetime | None = None
    business_date: str | None = None
    job: str = ""
    attempt: int = 1

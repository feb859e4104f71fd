"""The parameters of a run: its arguments, the partitions to write, and what it was launched for.

A program only reads these attributes. It does not import this class, so that it can be
called in a test with any object that has them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tidegate.domain.launch_input import Fired, MissingMember, PartitionInput, UpstreamRun


@dataclass(frozen=True, kw_only=True, slots=True)
class Params:
    """The parameters of one run.

    Attributes:
        args: the schedule's `args`, any JSON, with its references to the trigger resolved.
        partitions: the keys of the output partitions that this run writes; empty for outputs
            without partitions.
        manifest: for each dataset the keys that the run was launched for, exactly.
        sizes: for each dataset and key in `manifest` the reported rows, bytes and times.
        upstream: the runs that triggered it, the newest last.
        fired: the members of the schedule's trigger that held when the run was launched.
        provisional: the members of the trigger that were missing, since a `wait_at_most` or a timeout was
            over; empty for a run that has all that its trigger asks for.
        schedule: "app/name" of the schedule; None for a run started by hand.
        key: the key of the job, "" without one.
        now: aware, UTC; when the launch was decided, the same for every attempt.
        scheduled_time: aware; when the job was due, for a cron schedule its fire time.
        business_date: what the run is about, as a key in the cycle of the outputs: the period before.
        business_dates: those of all fires that the job has collected, sorted; `business_date` is the newest.
        first_event_time: aware, UTC; event time of the first event that the job collected.
        last_event_time: the same of the last one.
        job: the job's key, or the run's id for a run started by hand.
        attempt: 1 for the first launch of the job.
    """

    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    partitions: tuple[str, ...] = ()
    manifest: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    sizes: Mapping[str, Mapping[str, PartitionInput]] = field(
        default_factory=dict[str, Mapping[str, PartitionInput]]
    )
    upstream: tuple[UpstreamRun, ...] = ()
    fired: tuple[Fired, ...] = ()
    provisional: tuple[MissingMember, ...] = ()
    schedule: str | None = None
    key: str = ""
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    scheduled_time: datetime | None = None
    business_date: str | None = None
    business_dates: tuple[str, ...] = ()
    first_event_time: datetime | None = None
    last_event_time: datetime | None = None
    job: str = ""
    attempt: int = 1

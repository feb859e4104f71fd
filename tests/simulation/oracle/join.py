"""Whether an event may open a job: only if no waiting job of its key still takes events."""

from datetime import datetime, timedelta
from typing import Any

from tests.simulation.knowledge import WAITS, JobSeen, Knowledge
from tests.simulation.oracle.dates import fires, is_keyed
from tidegate.scheduler.model.journal import Entry

MISSED = timedelta(minutes=2)
"""A fire that is noticed later was missed."""


def check_opened(known: Knowledge, job: JobSeen, entry: Entry) -> None:
    """The first event of a job: every other job of its key is full, or takes events no more."""
    spec = known.specs[job.schedule]
    if _has_own_job(spec, entry):
        job.closed = True
        return
    for other in known.jobs.values():
        mine = other is not job and (other.schedule, other.state) == (job.schedule, WAITS)
        mine = mine and _is_its_job(spec, job, other, entry)
        takes_more = mine and other.events and not other.closed and not is_full(spec, other)
        assert not takes_more, f"legal states: {job} was opened beside {other}, which is not full"


def _is_its_job(spec: dict[str, Any], job: JobSeen, other: JobSeen, entry: Entry) -> bool:
    """Whether an event that opened a job, or gave it a date, would have belonged to another one."""
    if not is_keyed(spec):
        return other.key == job.key
    if "scheduled_for" not in entry.data:
        return True
    if "date" in entry.data:
        return other.key == job.key
    return other.key == job.key or (not other.key and other.since is None and not fires(other))


def closes(spec: dict[str, Any], job: JobSeen, key: str) -> bool:
    """Whether a person who triggers a job closes it: it is full, or its partition is named."""
    return is_full(spec, job) or (spec["for_each"] is None and not is_keyed(spec) and bool(key))


def is_full(spec: dict[str, Any], job: JobSeen) -> bool:
    """Whether a job with a satisfied trigger is full; an event at several leaves counts once."""
    if spec["batching"] == "each":
        return True
    return spec["max_batch"] is not None and len({event for event, _ in job.events}) >= spec["max_batch"]


def _has_own_job(spec: dict[str, Any], entry: Entry) -> bool:
    """A missed fire that has a job of its own whatever waits."""
    scheduled = entry.data.get("scheduled_for")
    if scheduled is None or entry.at - datetime.fromisoformat(scheduled) <= MISSED:
        return False
    trigger, path = spec["trigger"], entry.data["leaf"]
    for step in path.split(".") if path else ():
        if trigger["kind"] != "any":
            return False
        trigger = trigger["of"][int(step)]
    return trigger["catch_up"] == "all"

"""Which business dates a job is about, counted apart from the engine. Chance apps write days only."""

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.simulation.knowledge import JobSeen
from tidegate.scheduler.model.journal import Entry

WRITES_DAYS = "p"
"""The program whose output has partitions, each of a day."""

Spec = dict[str, Any]


def is_keyed(spec: Spec) -> bool:
    """Whether the key of a job is its date."""
    return spec["batching"] == "date" and spec["for_each"] is None


def fires(job: JobSeen) -> list[tuple[str, dict[str, Any]]]:
    """The fires of crons that a job has: leaf and facts."""
    return [(leaf, data) for leaf, data in job.collected if "scheduled_for" in data]


def check_joined(spec: Spec, job: JobSeen, entry: Entry) -> None:
    """An event that joins a job, before it does: a fire is about the date of the job, or gives it one."""
    if "date" in entry.data:
        undated = not job.key and job.since is None and not fires(job)
        assert is_keyed(spec) and undated, f"legal states: {job} has a date already"
        job.key = entry.data["date"]
    if is_keyed(spec) and spec["program"] == WRITES_DAYS and "scheduled_for" in entry.data:
        date = _date_of_fire(spec, entry.data["leaf"], entry.data)
        assert job.key == date, f"dates: a fire about {date} joined {job}"


def check_satisfied(spec: Spec, job: JobSeen, entry: Entry) -> None:
    """A job of a date has it from its fire, or from the moment at which its trigger held."""
    if "date" in entry.data:
        assert is_keyed(spec) and not job.key, f"legal states: {job} has a date already"
        job.key = entry.data["date"]
        if spec["program"] == WRITES_DAYS:
            assert job.since is not None and job.key == _day_before(job.since, spec["timezone"])
    assert job.key or fires(job) or not is_keyed(spec), f"dates: {job} has none, and its trigger holds"


def check_written(spec: Spec, job: JobSeen, entry: Entry) -> None:
    """A run writes the date of its job, or those of all fires that the job has collected."""
    dated = spec["output_partition"] == "business_date" and spec["for_each"] is None
    if spec["program"] != WRITES_DAYS or not dated or job.launches.total() > 1:
        return
    dates = {_date_of_fire(spec, leaf, data) for leaf, data in fires(job)}
    if job.key:
        dates = {job.key}
    elif not dates and job.since is not None:
        dates = {_day_before(job.since, spec["timezone"])}
    assert sorted(dates) == entry.data["partitions"], f"dates: the run writes others than {sorted(dates)}"


def _date_of_fire(spec: Spec, leaf: str, data: dict[str, Any]) -> str:
    trigger = spec["trigger"]
    for step in leaf.split(".") if leaf else ():
        trigger = trigger["of"][int(step)]
    return _day_before(datetime.fromisoformat(data["scheduled_for"]), trigger["timezone"])


def _day_before(at: datetime, zone: str) -> str:
    return (at.astimezone(ZoneInfo(zone)).date() - timedelta(days=1)).isoformat()

"""What the journal must say of data: whole data reports an instance, and runs again what has read it."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from tests.simulation.tasks.deeds import RUNS_AGAIN
from tests.simulation.tasks.landed import collected, is_whole
from tests.simulation.tasks.live import Live, of
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind

FINISHED = ("SUCCEEDED", "FAILED")


class DataRead:
    """The data of each instance after the entries that were read so far."""

    def __init__(self) -> None:
        self._keys: dict[tuple[str, str], list[str]] = defaultdict(list)
        self._again: dict[str, datetime] = {}

    def joined(self, live: Live, job: Job, entry: Entry) -> None:
        """Data has come to an instance; where it is finished or paused that is a report of it."""
        dataset = collected(live.task(job.schedule))
        assert dataset is not None, f"data has come to {job.schedule}, which collects none"
        self._keys[job.id, dataset].append(entry.data["partition"])
        ended = str(job.state) in (*FINISHED, "PAUSED")
        if ended and self._is_whole(live, job) and of(job).scheduled <= entry.at:
            self._again[job.id] = entry.at

    def reported(self, live: Live, job: Job, entry: Entry) -> None:
        """Data has reported an instance."""
        assert self._is_whole(live, job), f"{job.schedule} {of(job).key} was reported by a part of its data"
        assert of(job).scheduled <= entry.at, f"{job.schedule} {of(job).key} was reported before its time"
        self._again.pop(job.id, None)

    def is_reported(self, live: Live, job: Job) -> bool:
        """Whether an instance has all its data, which takes the place of all that it may wait for."""
        return job.first_event_at is not None and self._is_whole(live, job)

    def time_passes(self, at: datetime) -> None:
        """The next instant begins: every second event of the one before was a report."""
        missed = [id for id, since in self._again.items() if since < at]
        assert not missed, f"a second event of {missed} has reported nothing"

    def judge_rerun(self, live: Live, group: Sequence[Entry]) -> None:
        """A second event runs the instance again, and everything that has read it; nothing else."""
        ids = {entry.job or "" for entry in group}
        roots = {id for id in ids & self._again.keys() if str(live.jobs[id].state) in FINISHED}
        assert roots, f"data runs {ids} again, and has come to none of them"
        found = set(roots)
        for id in roots:
            consumers = live.consumers(live.jobs[id])
            found |= {each for each, job in consumers.items() if str(job.state) in RUNS_AGAIN}
        assert ids == found, f"a second event runs {ids - found} again, and not {found - ids}"

    def _is_whole(self, live: Live, job: Job) -> bool:
        dataset = collected(live.task(job.schedule))
        return dataset is not None and is_whole(dataset, self._keys[job.id, dataset])


def rerun_by_data(entries: Sequence[Entry], first: int) -> Sequence[Entry]:
    """The entries from a place on that one second event has written; none where a person did."""
    last = first
    while last < len(entries) and _is_by_data(entries[last]) and entries[last].at == entries[first].at:
        last += 1
    return entries[first:last]


def _is_by_data(entry: Entry) -> bool:
    return entry.kind is EntryKind.RERUN and entry.data["by"] == "event"

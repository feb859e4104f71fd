"""The oracle of cycle tasks: what docs/cycles.md promises of the tables, computed from all instances."""

from collections import Counter
from datetime import datetime, timedelta

from tests.simulation.tasks.live import Live, identity, named, of
from tidegate.domain.model import TaskTrigger
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.store.engine_reader import EngineReader

SOON = timedelta(minutes=1)
"""What has found its upstream task behind looks again after this time."""


def judge_tables(reader: EngineReader, now: datetime) -> None:
    """What must hold after each tick."""
    live = Live.of_store(reader)
    twice = [name for name, count in Counter(map(identity, live.existing())).items() if count > 1]
    assert not twice, f"no instance twice: {twice[:3]}"
    due = {state.ref: state.next_fire_at for state in reader.schedules()}
    _nothing_stuck(live, {ref for ref, at in due.items() if at is not None and at <= now}, now)
    _partitions_apart(live)


def judge_quiet(reader: EngineReader, now: datetime) -> None:
    """What must hold when nothing has happened for long: all that can run has run."""
    live = Live.of_store(reader)
    for job in live.existing():
        if job.schedule in live.specs:
            waits = str(job.state) in ("PENDING_CONSTRAINT", "PENDING_LAUNCH", "LAUNCHED")
            assert not waits, f"stuck: {job.schedule} {of(job).key} is {job.state} ({job.reason})"


def _nothing_stuck(live: Live, behind: set[str], now: datetime) -> None:
    """An instance is Not Run only before its time, before its report, or while an upstream is not done."""
    lots: dict[int, int] = {}
    for job in live.existing():
        mine, task = of(job), live.task(job.schedule)
        if str(job.state) != "PENDING_TRIGGER" or mine.start > now or task is None:
            continue
        if not mine.number and not mine.empty and (task.type == "external" or task.update == "outside"):
            continue
        if not mine.number and any(named(job, each) in behind for each in task.depends_on):
            # A tick leaves some instances to the next one.
            continue
        made_at = live.made_at(job)
        if made_at is not None and made_at > now:
            continue
        if job.blocked_on is None and job.next_check_at is not None and job.next_check_at <= now + SOON:
            continue
        open_ = any(str(one.state) != "SUCCEEDED" for each in live.upstream(job).values() for one in each)
        if mine.number not in lots:
            lots[mine.number] = _first_open_lot(live, mine.number)
        assert open_ or lots[mine.number] < mine.lot, (
            f"stuck: {job.schedule} {mine.key} ({job.reason}) waits for nothing"
        )
        assert not _overdue(job, task, live, now), f"{job.schedule} {mine.key} has no time left"


def _first_open_lot(live: Live, number: int) -> int:
    if not number:
        return 0
    lots = (of(job).lot for job in live.of_backfill(number) if str(job.state) != "SUCCEEDED")
    return min(lots, default=1_000_000)


def _overdue(job: Job, task: TaskTrigger, live: Live, now: datetime) -> bool:
    """Whether the timeout of an instance is over that is Not Run, and not held."""
    timeout = live.specs[job.schedule].timeout
    if timeout.after is None or timeout.then != "discard" or job.held_at is not None:
        return False
    mine = of(job)
    if not mine.number:
        begun = mine.counts_from or mine.start
    elif mine.began is not None:
        begun = max(mine.began, mine.counts_from or mine.began)
    else:
        return False
    return now >= begun + timeout.after + job.held_for


def _partitions_apart(live: Live) -> None:
    writes: dict[str, list[Job]] = {}
    for job in live.existing():
        if str(job.state) in ("PENDING_LAUNCH", "LAUNCHED") and not job.gave_back:
            for resource in job.resources:
                if resource.startswith("partition:"):
                    writes.setdefault(resource, []).append(job)
    for resource, jobs in writes.items():
        alone = len(jobs) == 1 or not any(of(job).number for job in jobs)
        assert alone, f"a backfill writes {resource} beside another: {[job.id for job in jobs]}"

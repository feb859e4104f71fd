"""The oracle of cycle tasks: what docs/cycles.md promises, computed again from all instances.

It reads whole tables, and shares with the engine only the grid of a task and the arithmetic of natural hours
and days, which have tests of their own.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal

from tidegate.domain.model import Dependency, TaskTrigger
from tidegate.domain.time.task_grid import generation_time, natural_container, slots_of_day
from tidegate.domain.time.task_key import local_day
from tidegate.scheduler.decision.after import after, all_opened
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.journal import Entry, EntryKind
from tidegate.scheduler.store.protocol import Reader

Unit = Literal["hour", "day"]
HOUR: Unit = "hour"
DAY: Unit = "day"
CELLS: dict[str, dict[str, tuple[Unit, str]]] = {
    "minute": {"minute": (HOUR, "nearest"), "hour": (HOUR, "exactly_one"), "day": (DAY, "exactly_one")},
    "hour": {"minute": (HOUR, "last"), "hour": (DAY, "nearest"), "day": (DAY, "exactly_one")},
    "day": {"minute": (DAY, "last"), "hour": (DAY, "last"), "day": (DAY, "exactly_one")},
}
"""The nine cells of docs/cycles.md, written once more."""


def size(task: TaskTrigger) -> str:
    """The row or column of a task in the table of cells."""
    return task.cycle if task.cycle in ("minute", "hour") else "day"


class Live:
    """All instances of a store, and their tasks."""

    def __init__(
        self, jobs: Iterable[Job], states: Mapping[str, ScheduleState], members: Mapping[int, set[str]]
    ) -> None:
        self.jobs = [job for job in jobs if job.instance is not None]
        self.states = states
        self.members = members
        self.of_task: dict[tuple[str, int], list[Job]] = {}
        for job in sorted(self.jobs, key=lambda each: (of(each).scheduled, each.id)):
            if str(job.state) != "DISCARDED":
                self.of_task.setdefault((job.schedule, of(job).number), []).append(job)

    @classmethod
    def of_store(cls, reader: Reader) -> "Live":
        """All instances as the tables have them."""
        jobs = reader.jobs()
        numbers = {of(job).number for job in jobs if job.instance is not None} - {0}
        members = {
            number: set((reader.cursor(f"backfill:{number}") or {}).get("tasks", ())) for number in numbers
        }
        states = {state.ref: state for state in reader.schedules() if state.spec.task is not None}
        return cls(jobs, states, members)

    def task(self, ref: str) -> TaskTrigger:
        task = self.states[ref].spec.task
        assert task is not None
        return task

    def behind(self, task: TaskTrigger, now: datetime) -> bool:
        """Whether an upstream task has instances to make: a tick leaves some to the next one."""
        refs = [each.task if "/" in each.task else f"a/{each.task}" for each in task.depends_on]
        due = [self.states[ref].next_fire_at for ref in refs if ref in self.states]
        return any(each is not None and each <= now for each in due)

    def upstream(self, job: Job) -> dict[str, list[Job]]:
        """The upstream instances of an instance, by its dependencies."""
        mine, found = of(job), dict[str, list[Job]]()
        if mine.empty or job.schedule not in self.states:
            return found
        for number, each in enumerate(self.task(job.schedule).depends_on):
            if each.itself:
                before = [
                    other
                    for other in self.of_task.get((job.schedule, mine.number), ())
                    if of(other).scheduled < mine.scheduled and not of(other).empty
                ]
                found[f"{number} self"] = before[-1:]
                continue
            ref = each.task if "/" in each.task else f"a/{each.task}"
            if mine.number and ref not in self.members[mine.number]:
                continue
            found[f"{number} {ref}"] = self._picked(job, each, ref)
        return found

    def _picked(self, job: Job, dependency: Dependency, ref: str) -> list[Job]:
        mine, task = of(job), self.task(job.schedule)
        if ref not in self.states:
            return []
        container, rule = CELLS[size(task)][size(self.task(ref))]
        if mine.number and rule == "last":
            rule = "all"
        rule = dependency.select or rule

        def time(instance: Instance) -> datetime:
            return instance.business if mine.number else instance.scheduled

        previous = dependency.period == "previous"
        period = natural_container(task.timezone, time(mine), container, previous=previous)
        inside = [
            each
            for each in self.of_task.get((ref, mine.number), ())
            if period.start <= time(of(each)) < period.end
        ]
        if rule in ("nearest", "exactly_one") and not previous:
            inside = [each for each in inside if time(of(each)) <= time(mine)]
        inside.sort(key=lambda each: (time(of(each)), of(each).scheduled, each.id))
        return {
            "nearest": inside[-1:],
            "last": inside[-1:],
            "first": inside[:1],
            "all": inside,
            "exactly_one": inside if len(inside) == 1 else [],
        }[rule]


def of(job: Job) -> Instance:
    """What makes a job an instance."""
    assert job.instance is not None
    return job.instance


def judge_tables(reader: Reader, now: datetime, made: Mapping[str, datetime]) -> None:
    """What must hold after each tick.

    Args:
        made: when each task that never changed was deployed, by ref.
    """
    live = Live.of_store(reader)
    exist = [job for jobs in live.of_task.values() for job in jobs]
    names = Counter((job.schedule, of(job).scheduled, of(job).number) for job in exist)
    twice = [name for name, count in names.items() if count > 1]
    assert not twice, f"no instance twice: {twice[:3]}"
    _none_missing(live, now, made)
    _nothing_stuck(live, now)
    _partitions_apart(live)


def _none_missing(live: Live, now: datetime, made: Mapping[str, datetime]) -> None:
    for ref, since in made.items():
        due = live.states[ref].next_fire_at
        if due is not None and due <= now:
            # A tick leaves some to the next one.
            continue
        task = live.task(ref)
        exist = {of(job).scheduled for job in live.of_task.get((ref, 0), ())}
        day = local_day(task, since)
        while generation_time(task, day) <= now:
            for slot in slots_of_day(task, day):
                late = slot.start < since if day <= local_day(task, since + timedelta(hours=2)) else False
                assert late or slot.scheduled in exist, f"none missing: {ref} lacks {slot}"
            day += timedelta(days=1)


def _nothing_stuck(live: Live, now: datetime) -> None:
    """An instance is Not Run only before its time, before its report, or while an upstream is not done."""
    for job in live.jobs:
        mine = of(job)
        if str(job.state) != "PENDING_TRIGGER" or mine.start > now or job.schedule not in live.states:
            continue
        task = live.task(job.schedule)
        if not mine.number and not mine.empty and (task.type == "external" or task.update == "outside"):
            continue
        upstream = [each for found in live.upstream(job).values() for each in found]
        if live.behind(task, now) and not mine.number:
            continue
        open_ = [each for each in upstream if str(each.state) != "SUCCEEDED"]
        before = [
            each
            for (_, number), jobs in live.of_task.items()
            if number == mine.number
            for each in jobs
            if of(each).lot < mine.lot and str(each.state) != "SUCCEEDED"
        ]
        assert open_ or before, f"stuck: {job.schedule} {mine.key} ({job.reason}) waits for nothing"


def _partitions_apart(live: Live) -> None:
    writes: dict[str, list[Job]] = {}
    for job in live.jobs:
        if str(job.state) in ("PENDING_LAUNCH", "LAUNCHED"):
            for resource in job.resources:
                if resource.startswith("partition:"):
                    writes.setdefault(resource, []).append(job)
    for resource, jobs in writes.items():
        alone = len(jobs) == 1 or not any(of(job).number for job in jobs)
        assert alone, f"a backfill writes {resource} beside another: {[job.id for job in jobs]}"


def judge_journal(entries: Sequence[Entry], reader: Reader) -> None:
    """The journal folds to the table, and at no instant of it a gate opened that had to be closed."""
    now = Live.of_store(reader)
    folded: dict[str, Job] = {}
    for entry in entries:
        state = now.states.get(entry.schedule or "")
        if entry.kind is EntryKind.INSTANCE:
            assert state is not None
            folded |= {job.id: job for job in all_opened(entry, state)}
        elif entry.job in folded:
            job = folded[entry.job]
            if entry.kind is EntryKind.SATISFIED:
                _judge_gate(Live(folded.values(), now.states, now.members), job, entry, folded)
                _judge_slices(now, job, entry, folded)
            if entry.kind is EntryKind.RUN:
                # A repeated observation is not journaled, and a run of an attempt that is over has no job.
                assert str(job.state) in ("PENDING_LAUNCH", "LAUNCHED"), f"a fenced run of {job.id} counts"
            folded[entry.job] = after(job, entry, state)
    for job in now.jobs:
        mine, theirs = facts(job), facts(folded[job.id])
        assert mine == theirs, f"{job.id}: the table says {mine}, the journal {theirs}"


def _judge_gate(then: Live, job: Job, entry: Entry, folded: Mapping[str, Job]) -> None:
    """An instance that left Not Run had the upstream instances of the matrix, and all were successful."""
    recorded = {edge["job"] for edge in entry.data["upstream"]}
    wanted = then.upstream(job)
    assert recorded == {each.id for found in wanted.values() for each in found}, (
        f"edges of {job.schedule} {of(job).key}: {recorded}, the matrix says {wanted}"
    )
    missing = [name for name, found in wanted.items() if not found and not name.endswith(" self")]
    assert len(entry.data["diagnostics"]) == len(missing), f"diagnostics of {job.id}: {missing}"
    closed = [id for id in recorded if str(folded[id].state) != "SUCCEEDED"]
    assert not closed, f"{job.schedule} {of(job).key} left Not Run, and {closed} are not successful"


def _judge_slices(now: Live, job: Job, entry: Entry, folded: Mapping[str, Job]) -> None:
    """No gate opened while an upstream instance that was due to be made did not exist yet."""
    for each in (each for found in now.upstream(job).values() for each in found):
        task = now.task(each.schedule)
        due = generation_time(task, local_day(task, of(each).scheduled))
        early = of(each).kind == "periodic" and due <= entry.at and each.id not in folded
        assert not early, f"{job.schedule} {of(job).key} left Not Run before {each.schedule} was made"


def facts(job: Job) -> dict[str, Any]:
    """What the journal must hold of an instance."""
    names = ("state", "attempt", "commit", "satisfied_at", "run_id", "instance")
    return {name: getattr(job, name) for name in names}

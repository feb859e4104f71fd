"""Replace: what becomes of a deployed schedule, and of its jobs, when its specification changes.

    on_update: reset    it is deleted and created again with its status: its jobs are discarded, all counts
                        start again
    on_update: carry    its waiting jobs go on under the new specification, with the events that it still
                        listens to (`scheduler.decision.changes.carry`); decided launches stay decided; fire
                        times and unchanged timers go on

Nothing here writes the schedule itself: each function returns the states, and the stage writes all at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from tidegate.compiler.fingerprint import canonical, fingerprint
from tidegate.domain.model import App, Schedule, leaves
from tidegate.scheduler.commands.activation import clock_entries, start_clocks, takes_events
from tidegate.scheduler.commands.change_jobs import apply_fates, change_jobs
from tidegate.scheduler.commands.tasks.deployed_tasks import begin_tasks
from tidegate.scheduler.decision.changes.carry import Carried, carry, carry_entries
from tidegate.scheduler.decision.changes.fate import Change, fate
from tidegate.scheduler.decision.changes.moved_crons import moved_crons
from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.due import MICROSECOND


class Replacement(NamedTuple):
    """A deployed schedule, and its specification from now on."""

    before: ScheduleState
    spec: Schedule

    @property
    def changed(self) -> ScheduleState:
        """The schedule with that specification, as it is otherwise."""
        return msgspec.structs.replace(self.before, spec=self.spec, fingerprint=fingerprint(self.spec))

    def again(self, now: datetime) -> ScheduleState:
        """Return the schedule as if it had just been created, not started yet; a person's status stays."""
        return ScheduleState(
            ref=self.before.ref,
            spec=self.spec,
            fingerprint=fingerprint(self.spec),
            status=self.before.status,
            changed_by=self.before.changed_by,
            deployed_at=now,
            revision=self.before.revision + 1,
            source=self.before.source,
            suspended_at=self.before.suspended_at,
        )


def create_schedules(
    transaction: EngineTransaction, states: Sequence[ScheduleState], now: datetime
) -> list[ScheduleState]:
    """Make the first instances of tasks, and start the schedules that accept events; return all of them."""
    tasks = begin_tasks(transaction, [state for state in states if state.spec.task is not None], now)
    schedules = [state for state in states if state.spec.task is None]
    begun = start_clocks(transaction, [state for state in schedules if takes_events(state)], now)
    transaction.add_journal(list(clock_entries(begun, now)))
    return [*tasks, *begun, *(state for state in schedules if not takes_events(state))]


def reset_schedules(
    transaction: EngineTransaction, replacements: Sequence[Replacement], now: datetime
) -> list[ScheduleState]:
    """Discard the jobs of schedules, and create the schedules again."""
    after = {each.before.ref: each.again(now) for each in replacements}
    change_jobs(transaction, Change.RESET, [each.before for each in replacements], now, after)
    transaction.drop_records(LAST_LAUNCHES, after)
    _judge_again(transaction, list(after), now)
    return create_schedules(transaction, list(after.values()), now)


def _judge_again(transaction: EngineTransaction, refs: Sequence[str], now: datetime) -> None:
    """Let the jobs of backfills, which go on, be decided by the changed schedules."""
    jobs = [job for job in transaction.jobs(schedules=refs, states=WAITING) if job.instance is not None]
    transaction.put_jobs([msgspec.structs.replace(job, next_check_at=now, blocked_on=None) for job in jobs])


def carry_schedules(
    transaction: EngineTransaction,
    replacements: Sequence[Replacement],
    apps: Mapping[str, App],
    now: datetime,
) -> list[ScheduleState]:
    """Carry the waiting jobs of schedules over to their new specifications.

    Args:
        apps: the new apps, by name.
    """
    before = {each.before.ref: each.before for each in replacements}
    after = _continue(transaction, replacements, now)
    transaction.add_journal([entry for ref in after for entry in _timers_set(before[ref], after[ref], now)])
    jobs = transaction.jobs(schedules=list(after), states=WAITING)
    deliveries = transaction.deliveries([job.id for job in jobs])
    found = [(job, carry(job, deliveries[job.id], after[job.schedule], apps[job.app], now)) for job in jobs]
    _write(transaction, found, now)
    carried = [each.job for _, each in found if each.job is not None]
    emptied = [job for job, each in found if each.job is None]
    # A job without events has nothing to wait for. The others follow the new `on_suspend` at once.
    fates = [
        (job, fate(job, Change.CARRIED, before[job.schedule], after[job.schedule], emptied=is_empty))
        for is_empty, some in ((True, emptied), (False, carried))
        for job in some
    ]
    apply_fates(transaction, fates, after, now)
    return list(after.values())


def move_crons(
    transaction: EngineTransaction, before: ScheduleState, after: ScheduleState, now: datetime
) -> ScheduleState:
    """Return a changed schedule whose crons go on in another zone without a fire left out or twice."""
    moved = moved_crons(before, after, now)
    transaction.add_events([event for each in moved for event in each.events(after.ref, now)])
    clocks = {each.leaf: each.skipped[-1] for each in moved if each.skipped}
    if not clocks:
        return after
    transaction.add_journal(list(clock_entries([msgspec.structs.replace(after, clocks=clocks)], now)))
    placed = msgspec.structs.replace(after, clocks={**after.clocks, **clocks})
    return msgspec.structs.replace(placed, next_fire_at=next_fire(placed, placed.fires_after or now))


def _write(transaction: EngineTransaction, found: Sequence[tuple[Job, Carried]], now: datetime) -> None:
    """Write carried jobs with their events."""
    every = [carried for _, carried in found]
    # First removed, then added: an event that moves to another leaf is one of each.
    transaction.remove_deliveries([each for carried in every for each in carried.removed])
    transaction.add_deliveries([each for carried in every for each in (*carried.added, *carried.dropped)])
    transaction.add_journal([e for job, carried in found for e in carry_entries(job.id, carried, now)])
    transaction.put_jobs([carried.job for carried in every if carried.job is not None])


def _continue(
    transaction: EngineTransaction, replacements: Sequence[Replacement], now: datetime
) -> dict[str, ScheduleState]:
    """Return the changed schedules by ref, with the fire times and unchanged timers of the former ones."""
    replaced = [each.again(now) for each in replacements]
    begun = start_clocks(transaction, [state for state in replaced if takes_events(state)], now)
    after = {state.ref: state for state in replaced} | {state.ref: state for state in begun}
    return {before.ref: _in_its_place(before, after[before.ref], now) for before, _ in replacements}


def _in_its_place(before: ScheduleState, after: ScheduleState, now: datetime) -> ScheduleState:
    """Return a changed schedule that goes on where the former one was.

    Args:
        after: the changed schedule, started if it accepts events.
    """
    if not takes_events(after) or not takes_events(before):
        return after
    same = _same_timers(before.spec, after.spec)
    clocks = {path: since for path, since in after.clocks.items() if path not in same}
    clocks |= {path: since for path, since in before.clocks.items() if path in same}
    # A new cron fires from now on, this instant included; the former one has fired up to here.
    fires_after = before.fires_after if _crons(before.spec) == _crons(after.spec) else now - MICROSECOND
    placed = msgspec.structs.replace(
        after, active_since=before.active_since, fires_after=fires_after, clocks=clocks
    )
    return msgspec.structs.replace(placed, next_fire_at=next_fire(placed, fires_after or now))


def _timers_set(before: ScheduleState, after: ScheduleState, now: datetime) -> Iterator[Entry]:
    """Return the entries for the timers that were started again; one that goes on has its entry already."""
    kept = before.clocks.items() if takes_events(before) else ()
    clocks = {path: since for path, since in after.clocks.items() if (path, since) not in kept}
    return clock_entries([msgspec.structs.replace(after, clocks=clocks)], now)


def _same_timers(before: Schedule, after: Schedule) -> set[str]:
    """Return the paths of the timers that count the same time from the same cause."""
    timers = _timers(after)
    return {path for path, form in _timers(before).items() if timers.get(path) == form}


def _timers(spec: Schedule) -> dict[str, object]:
    return {
        leaf.path: (canonical(leaf.trigger), leaf.trigger.runs_heard(spec.program))
        for leaf in leaves(spec.trigger)
        if leaf.trigger.timer is not None
    }


def _crons(spec: Schedule) -> dict[str, object]:
    return {
        leaf.path: canonical(leaf.trigger)
        for leaf in leaves(spec.trigger)
        if leaf.trigger.wall_clock is not None
    }

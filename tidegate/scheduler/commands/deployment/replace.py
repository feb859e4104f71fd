"""Replace: change a deployed schedule and its jobs when a deploy changes its specification.

With `on_update: reset` the schedule is deleted and created again with its status: its jobs are
discarded, and all counts start again. With `carry` its waiting jobs continue under the new
specification with the events that it still listens to (see `scheduler.decision.changes.carry`), decided
launches stay decided, and fire times and unchanged timers continue. The new `on_suspend` of a suspended
schedule applies at once.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

import msgspec

from tidegate.compiler.fingerprint import canonical, fingerprint
from tidegate.domain.model import App, Schedule, leaves
from tidegate.scheduler.commands.activation import clock_entries, started, takes_events
from tidegate.scheduler.commands.change_jobs import apply_fates, change_jobs
from tidegate.scheduler.commands.existing_events import collect_existing
from tidegate.scheduler.commands.tasks.deployed_tasks import begin_tasks
from tidegate.scheduler.decision.changes.carry import carry, carry_entries
from tidegate.scheduler.decision.changes.fate import Change, fate
from tidegate.scheduler.decision.fires import next_fire
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.journal import Entry
from tidegate.scheduler.store.protocol import Transaction
from tidegate.scheduler.tick.due import MICROSECOND


def reset_schedules(
    transaction: Transaction,
    states: Sequence[ScheduleState],
    specs: Sequence[Schedule],
    now: datetime,
) -> list[ScheduleState]:
    """Discard the jobs of schedules that start again, and return the new schedules."""
    change_jobs(transaction, Change.RESET, states, now)
    return created(transaction, [renewed(s, spec, now) for s, spec in zip(states, specs, strict=True)], now)


def created(transaction: Transaction, states: Sequence[ScheduleState], now: datetime) -> list[ScheduleState]:
    """Return new schedules, started if they accept events, and new tasks with their first instances."""
    tasks = begin_tasks(transaction, [state for state in states if state.spec.task is not None], now)
    states = [state for state in states if state.spec.task is None]
    begun = started(transaction, [state for state in states if takes_events(state)], now)
    transaction.add_journal(list(clock_entries(begun, now)))
    collect_existing(transaction, [*tasks, *begun], now)
    return [*tasks, *begun, *(state for state in states if not takes_events(state))]


def renewed(state: ScheduleState, spec: Schedule, now: datetime) -> ScheduleState:
    """Return the schedule with another specification and its status, not started yet."""
    return ScheduleState(
        ref=state.ref,
        spec=spec,
        fingerprint=fingerprint(spec),
        status=state.status,
        changed_by=state.changed_by,
        deployed_at=now,
        revision=state.revision + 1,
        source=state.source,
        suspended_at=state.suspended_at,
    )


def carry_schedules(
    transaction: Transaction,
    states: Sequence[ScheduleState],
    specs: Sequence[Schedule],
    apps: Mapping[str, App],
    now: datetime,
) -> list[ScheduleState]:
    """Carry the waiting jobs of schedules over to new specifications, and return the changed schedules.

    Args:
        apps: the new apps, by name.
    """
    before = {state.ref: state for state in states}
    renewals = [renewed(state, spec, now) for state, spec in zip(states, specs, strict=True)]
    begun = {
        state.ref: state for state in started(transaction, [r for r in renewals if takes_events(r)], now)
    }
    after = {
        state.ref: _in_its_place(before[state.ref], begun.get(state.ref, state), now) for state in renewals
    }
    transaction.add_journal([entry for ref in after for entry in _clocks_set(before[ref], after[ref], now)])
    jobs = transaction.jobs(schedules=list(after), states=WAITING)
    deliveries = transaction.deliveries([job.id for job in jobs])
    found = [(job, carry(job, deliveries[job.id], after[job.schedule], apps[job.app], now)) for job in jobs]
    transaction.remove_deliveries([each for _, carried in found for each in carried.removed])
    transaction.add_deliveries([each for _, carried in found for each in (*carried.added, *carried.dropped)])
    transaction.add_journal([e for job, carried in found for e in carry_entries(job.id, carried, now)])
    emptied = [job for job, carried in found if carried.job is None]
    carried_jobs = [carried.job for _, carried in found if carried.job is not None]
    transaction.put_jobs(carried_jobs)
    fates = [
        (job, fate(job, Change.CARRIED, before[job.schedule], after[job.schedule], emptied=is_empty))
        for is_empty, each in ((True, emptied), (False, carried_jobs))
        for job in each
    ]
    apply_fates(transaction, fates, after, now)
    return list(after.values())


def _in_its_place(before: ScheduleState, after: ScheduleState, now: datetime) -> ScheduleState:
    """Return the changed schedule with the fire times and unchanged timers of the former one.

    Args:
        after: the changed schedule, started if it accepts events.
    """
    if not takes_events(after) or not takes_events(before):
        return after
    same = {path for path, form in _timers(before.spec).items() if _timers(after.spec).get(path) == form}
    restarted = {path: since for path, since in after.clocks.items() if path not in same}
    kept = {path: since for path, since in before.clocks.items() if path in same}
    # A new cron fires from now on, this instant included; the former one has fired up to here.
    after_fires = before.fires_after if _crons(before.spec) == _crons(after.spec) else now - MICROSECOND
    placed = msgspec.structs.replace(
        after, active_since=before.active_since, fires_after=after_fires, clocks={**restarted, **kept}
    )
    return msgspec.structs.replace(placed, next_fire_at=next_fire(placed, after_fires or now))


def _clocks_set(before: ScheduleState, after: ScheduleState, now: datetime) -> Iterator[Entry]:
    """Return the entries for the timers that were started again."""
    kept = before.clocks.items() if takes_events(before) else ()
    clocks = {path: since for path, since in after.clocks.items() if (path, since) not in kept}
    return clock_entries([msgspec.structs.replace(after, clocks=clocks)], now)


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

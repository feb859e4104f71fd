"""Replace: what becomes of a schedule, and of its jobs, when a deploy changes its text.

With `on_update: reset` it is deleted and created again with the status that it had: its jobs are given
up, and all counts start anew. With `carry` its waiting jobs go on under the new text with the events
that still mean something (see `scheduler.carry`), launches that were decided stay decided, and the
schedule keeps its place in time. A suspended one obeys its new `on_suspend` at once.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from compiler.fingerprint import canonical, fingerprint
from compiler.model import App, CronTrigger, ElapsedTrigger, Schedule, leaves
from scheduler.activation import clock_entries, started, stopped, takes
from scheduler.carry import carry, carry_entries
from scheduler.deployed import ScheduleState
from scheduler.discard import discard_jobs, discard_unlaunched, discard_waiting
from scheduler.fires import next_fire
from scheduler.hold import held, let_go
from scheduler.job import WAITING, Job
from scheduler.reason import Reason
from scheduler.store.protocol import Transaction
from scheduler.working_set import MICROSECOND


def reset_schedules(
    transaction: Transaction,
    states: Sequence[ScheduleState],
    specs: Sequence[Schedule],
    now: datetime,
) -> list[ScheduleState]:
    """Give up the jobs of schedules that start anew; returns the schedules as they are to be."""
    refs = [state.ref for state in states]
    discard_waiting(transaction, refs, Reason.D_UPDATED, now)
    discard_unlaunched(transaction, refs, now, Reason.D_UPDATED)
    return created(transaction, [renewed(s, spec, now) for s, spec in zip(states, specs, strict=True)], now)


def created(transaction: Transaction, states: Sequence[ScheduleState], now: datetime) -> list[ScheduleState]:
    """New schedules with their place in time, if they take anything yet."""
    begun = started(transaction, [state for state in states if takes(state)], now)
    transaction.add_journal(list(clock_entries(begun, now)))
    return [*begun, *(state for state in states if not takes(state))]


def renewed(state: ScheduleState, spec: Schedule, now: datetime) -> ScheduleState:
    """The schedule with another text, its status, and no place in time yet."""
    return ScheduleState(
        ref=state.ref,
        spec=spec,
        fingerprint=fingerprint(spec),
        status=state.status,
        changed_by=state.changed_by,
        deployed_at=now,
    )


def carry_schedule(
    transaction: Transaction, before: ScheduleState, spec: Schedule, app: App, now: datetime
) -> ScheduleState:
    """Let the waiting jobs of one schedule go on under another text; returns it as it is to be."""
    after = _in_its_place(transaction, before, renewed(before, spec, now), now)
    jobs = transaction.jobs(schedules=[after.ref], states=WAITING)
    deliveries = transaction.deliveries([job.id for job in jobs])
    waiting: list[Job] = []
    for job in jobs:
        carried = carry(job, deliveries[job.id], after, app, now)
        if carried.job is None:
            discard_jobs(transaction, [job], Reason.D_UPDATED, now)
            continue
        transaction.remove_deliveries(carried.removed)
        transaction.add_deliveries([*carried.added, *carried.dropped])
        transaction.add_journal(list(carry_entries(job.id, carried, now)))
        waiting.append(carried.job)
    _obey_suspension(transaction, before, after, waiting, now)
    return after


def _in_its_place(
    transaction: Transaction, before: ScheduleState, after: ScheduleState, now: datetime
) -> ScheduleState:
    """The changed schedule where the unchanged one stood in time; clocks go on where nothing changed."""
    if not takes(after):
        return stopped(after)
    (begun,) = started(transaction, [after], now)
    if not takes(before):
        transaction.add_journal(list(clock_entries([begun], now)))
        return begun
    same = {path for path, form in _elapsed(before.spec).items() if _elapsed(after.spec).get(path) == form}
    anew = {path: since for path, since in begun.clocks.items() if path not in same}
    transaction.add_journal(list(clock_entries([msgspec.structs.replace(begun, clocks=anew)], now)))
    kept = {path: since for path, since in before.clocks.items() if path in same}
    # A new cron fires from now on, this very instant included; the old one has fired up to here.
    after_fires = before.fires_after if _crons(before.spec) == _crons(after.spec) else now - MICROSECOND
    placed = msgspec.structs.replace(
        begun, active_since=before.active_since, fires_after=after_fires, clocks={**anew, **kept}
    )
    return msgspec.structs.replace(placed, next_fire_at=next_fire(placed, after_fires or now))


def _elapsed(spec: Schedule) -> dict[str, object]:
    found = ((leaf.path, leaf.trigger) for leaf in leaves(spec.trigger))
    return {
        path: (canonical(trigger), trigger.program or spec.program)
        for path, trigger in found
        if isinstance(trigger, ElapsedTrigger)
    }


def _crons(spec: Schedule) -> dict[str, object]:
    found = ((leaf.path, leaf.trigger) for leaf in leaves(spec.trigger))
    return {path: canonical(trigger) for path, trigger in found if isinstance(trigger, CronTrigger)}


def _obey_suspension(
    transaction: Transaction, before: ScheduleState, after: ScheduleState, waiting: list[Job], now: datetime
) -> None:
    """Write the waiting jobs, and do to them what the new `on_suspend` of a suspended schedule asks."""
    by_hand = [job for job in waiting if job.by_hand is not None]
    others = [job for job in waiting if job.by_hand is None]
    transaction.put_jobs(by_hand)
    if after.active:
        transaction.put_jobs(others)
    elif after.holding:
        transaction.put_jobs([held(job, now) for job in others])
    elif after.spec.on_suspend == "discard" != before.spec.on_suspend:
        discard_jobs(transaction, others, Reason.D_SUSPENDED, now)
    else:
        transaction.put_jobs([let_go(job, after.spec, now) for job in others])

"""The tick: the shell around the pure core. It loads rows, lets the core decide, and writes.

    due fires become events -> events are routed to jobs -> due jobs are decided -> outbox

The engine's clock is the instant up to which everything is done. A tick replays every instant from
this clock to now in order: it routes the events of an instant, then decides the jobs that are due
at it, as of that instant. So the same inputs give the same decisions whether ticks run every second
or every ten minutes (docs/adr/0010-a-tick-replays-its-instants.md). A late event counts at the
clock's instant, since past decisions do not change. A scheduler that was away for longer than
`AWAY_AFTER` does not replay that time: it handles everything since then as one instant, and
`catch_up` says which fires still count.

A tick is one transaction: events, jobs, slots, journal, fire times and timers change together or
not at all. A crash before the commit leaves the old state, and the next tick does the same again;
a crash after it leaves PENDING_LAUNCH jobs, which `scheduler.launch.outbox` offers until a run is
observed. The cost of a tick depends on due rows and new events, not on the number of schedules.

What an expiry does: a command that the clock gives, which the tick calls by name. Reverting takes all that
a change by hand takes: a difference with its consequences, `on_update` and `on_suspend`. Those are
commands, which advance the engine themselves before they change anything; this one is called when that is
done (docs/adr/0041-an-override-reverts-as-a-command-at-its-instant.md). `tick` does not import commands, so
their module is named here, and loaded when something expires.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.decision.repairs import awaits_attempt
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.clock import AWAY_AFTER, CLOCK, CLOCK_KEPT_FOR, TICKED, engine_clock
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.expected import judge_expected, next_judgement, note_landed
from tidegate.scheduler.tick.generate import INSTANCES_PER_TICK, RETURNED
from tidegate.scheduler.tick.in_order import InOrder
from tidegate.scheduler.tick.ingest import Aside, ingest
from tidegate.scheduler.tick.landed import report_again
from tidegate.scheduler.tick.maintenance.poll import maintain, next_poll
from tidegate.scheduler.tick.missed import fire_missed
from tidegate.scheduler.tick.repaired import end_repaired
from tidegate.scheduler.tick.set_back import set_back
from tidegate.scheduler.tick.working_set import WorkingSet

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.override import Override
    from tidegate.scheduler.store.protocol import EngineTransaction


REVERTS = "tidegate.scheduler.commands.reverts"


def end_expired(transaction: "EngineTransaction", expired: "Sequence[Override]", now: datetime) -> None:
    """Revert overrides that expire at the same instant."""
    import_module(REVERTS).end_expired(transaction, expired, now)


EXPIRED_AT_ONCE = 10_000
"""Overrides that expire at one instant and revert together; more of them follow at the same instant."""

SETS_PER_TICK = 20
"""The most working sets of one transaction; the next tick continues with the rest."""


class TickReport(Value, kw_only=True):
    """The result of one tick: counts, ids of launched and discarded jobs, and errors."""

    fired: int = 0
    routed: int = 0
    decided: int = 0
    launched: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    late: int = 0
    errors: tuple[str, ...] = ()

    def plus(self, other: "TickReport") -> "TickReport":
        """Return the sum of both reports."""
        return TickReport(
            **{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__}
        )


def tick(store: Store, now: datetime) -> TickReport:
    """Bring the store up to `now`.

    Any number of schedulers may tick on the same store: transactions are serialised.
    """
    with store.transaction() as transaction:
        caught_up = fire_missed(transaction)
        report = advance_to(transaction, now).plus(TickReport(fired=caught_up))
        known = transaction.cursor(TICKED)
        if known is None or abs(now - datetime.fromisoformat(known)) > CLOCK_KEPT_FOR:
            transaction.set_cursor(TICKED, now.isoformat())
        return report


def advance_to(transaction: EngineTransaction, now: datetime) -> TickReport:
    """Bring the store up to `now` inside the caller's transaction."""
    report = expire(transaction, now)
    clock = engine_clock(transaction)
    if clock is not None and clock - now > AWAY_AFTER:
        set_back(transaction, clock, now)
    if clock is None or abs(now - clock) > AWAY_AFTER:
        transaction.set_cursor(RETURNED, now.isoformat())
        return report.plus(_replay(transaction, now, now))
    return report.plus(_replay(transaction, clock, max(clock, now)))


def advance_before(transaction: EngineTransaction, now: datetime) -> None:
    """Replay all instants before `now`, so that a command or an observation at `now` finds them done.

    While the scheduler is away it only reverts what has expired: everything else is handled when it returns.
    """
    expire(transaction, now)
    _replay_before(transaction, now)


def _replay_before(transaction: EngineTransaction, now: datetime) -> TickReport:
    clock, report = engine_clock(transaction), TickReport()
    if clock is not None and clock < now <= clock + AWAY_AFTER:
        report = _replay(transaction, clock, now - MICROSECOND)
        # Exact, not only once a minute: the caller may make older rows due, which must not count earlier.
        transaction.set_cursor(CLOCK, (now - MICROSECOND).isoformat())
    return report


def expire(transaction: EngineTransaction, now: datetime) -> TickReport:
    """Revert the overrides that expire by `now`, each as a command at its own instant would.

    So what is due before an expiry is done under the override, and what comes with it or later is not,
    whatever the pace of the ticks; also while the scheduler is away.
    """
    report = TickReport()
    while due := transaction.due_records(OVERRIDES, now, 1):
        expires = due[0].expires_at or now
        clock = engine_clock(transaction)
        known = clock is not None and clock <= now + AWAY_AFTER
        at = max(expires, clock) if known and clock is not None else expires
        expired = transaction.due_records(OVERRIDES, expires, EXPIRED_AT_ONCE)
        report = report.plus(_replay_before(transaction, at))
        _take_own(transaction, at, {each.ref for each in expired})
        end_expired(transaction, expired, at)
    return report


def is_away(reader: EngineReader, now: datetime) -> bool:
    """Return whether the scheduler has done nothing for so long that it does not replay that time."""
    clock = engine_clock(reader)
    return clock is None or now - clock > AWAY_AFTER


def route_before(transaction: EngineTransaction, now: datetime, refs: Collection[str]) -> None:
    """Let schedules take what is theirs before they change at `now`, also while the scheduler is away.

    While it is away their missed fires, and all events that have arrived, are routed by the schedules as they
    are; jobs are decided when it returns. So the change says what becomes of these events.

    Args:
        refs: the schedules that change ("app/name").
    """
    advance_before(transaction, now)
    _take_own(transaction, now, refs)


def _take_own(transaction: EngineTransaction, now: datetime, refs: Collection[str]) -> None:
    """Let schedules take their events of an absence, and all that is left of missed fires, before `now`."""
    if is_away(transaction, now):
        _route_at(transaction, now - MICROSECOND, refs)
    if fire_missed(transaction, refs, whole=True):
        clock, before = engine_clock(transaction), now - MICROSECOND
        _route_at(transaction, before if clock is None else max(clock, before), ())


def _route_at(transaction: EngineTransaction, at: datetime, refs: Collection[str]) -> Aside:
    """Route what has arrived by an instant, and the fires of some schedules, without any decision."""
    work, aside = WorkingSet(transaction, at, at), Aside()
    ingest(work, at, aside, refs)
    work.flush()
    report_again(transaction, aside.again, at)
    note_landed(transaction, aside.landed, at, at)
    return aside


def route_now(transaction: EngineTransaction, now: datetime) -> None:
    """Route what has arrived by `now`, even while the scheduler is away; the next tick decides."""
    advance_before(transaction, now)
    aside = _route_at(transaction, now, ())
    maintain(transaction, aside.written, (), now, polls=False)


def _replay(transaction: EngineTransaction, clock: datetime, until: datetime) -> TickReport:
    report, start, sets, instances = TickReport(), clock, 0, INSTANCES_PER_TICK
    while sets < SETS_PER_TICK:
        poll, begun = next_poll(transaction, clock), clock
        reach, aside = _reach(transaction, clock, poll, until), Aside()
        work = WorkingSet(transaction, clock, reach, instances=instances)
        while not aside.breaks and (instant := work.next_instant()) is not None:
            clock, report = instant, report.plus(_at(work, instant, aside))
        work.flush()
        instances = work.instances_left
        clock = clock if aside.breaks else work.until
        end_repaired(transaction, aside.repaired, clock)
        note_landed(transaction, aside.landed, begun, clock)
        report = report.plus(TickReport(late=judge_expected(transaction, begun, clock)))
        if aside.again:
            # The jobs of this instant are decided after it, by the next working set.
            report_again(transaction, aside.again, clock)
            continue
        done, goes_on = _maintain(transaction, aside, clock, poll)
        report = report.plus(done)
        if clock >= until and not goes_on:
            break
        sets += clock != poll and not goes_on
    stored = engine_clock(transaction)
    if report != TickReport() or stored is None or abs(clock - stored) > CLOCK_KEPT_FOR or clock < start:
        transaction.set_cursor(CLOCK, clock.isoformat())
    return report


def _reach(
    transaction: EngineTransaction, clock: datetime, poll: datetime | None, until: datetime
) -> datetime:
    """Return the last instant that the next working set may cover: that of the next poll or deadline."""
    judgement = next_judgement(transaction)
    deadline = None if judgement is None else max(judgement, clock)
    return earliest((poll, deadline, until)) or until


def _maintain(
    transaction: EngineTransaction, aside: Aside, clock: datetime, poll: datetime | None
) -> tuple[TickReport, bool]:
    """Do what maintenance has to do after the jobs of an instant; `poll` is its next one of its own.

    Returns:
        What was done, and whether more may follow at the same instant.
    """
    done = maintain(transaction, aside.written, aside.operations, clock, polls=clock == poll)
    report = TickReport(decided=done.closed + done.looked, launched=done.launched)
    return report, bool(aside.operations or aside.repaired) or done.closed > 0


def _at(work: WorkingSet, instant: datetime, aside: Aside) -> TickReport:
    """Replay one instant: route all its events, then decide its due jobs (rule 14)."""
    fired, routed = ingest(work, instant, aside)
    if aside.again:
        return TickReport(fired=fired, routed=routed)
    return msgspec.structs.replace(_decide(work, instant, aside), fired=fired, routed=routed)


# --- jobs -------------------------------------------------------------------------------


def _decide(work: WorkingSet, instant: datetime, aside: Aside) -> TickReport:
    """Decide every due job, and the first ones of every queue that was woken, in launch order.

    Args:
        aside: takes the operations on tables, which come after the other jobs.
    """
    due, queues = work.take_jobs(instant), work.queues.take(instant)
    aside.operations += [job for job in due if job.maintenance is not None]
    due = [job for job in due if job.maintenance is None]
    if not due and not queues:
        return TickReport()
    line = InOrder(work, instant)
    line.decide(due, queues)
    applier = line.applier
    if applier.repaired:
        former = work.jobs(ids=applier.repaired)
        aside.repaired += [(job, applier.repaired[job.id]) for job in former if awaits_attempt(job)]
    return TickReport(
        decided=line.decided,
        launched=tuple(applier.launched),
        discarded=tuple(applier.discarded),
        errors=tuple(applier.errors),
    )

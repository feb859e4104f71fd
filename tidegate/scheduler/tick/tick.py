"""The tick: the shell around the pure core. It loads rows, lets the core decide, and writes.

    due fires become events -> events are routed to jobs -> due jobs are decided -> outbox

The engine's clock is the instant up to which everything is done. A tick replays every instant from
this clock to now in order: it routes the events of an instant, then decides the jobs that are due
at it, as of that instant. So the same inputs give the same decisions whether ticks run every second
or every ten minutes (docs/adr/0010-a-tick-replays-its-instants.md). A late event counts at the
clock's instant, since past decisions do not change. A scheduler that was away for longer than
`AWAY_AFTER` does not replay that time: it handles everything since then as one instant, and
`catch_up` says which fires still count.

A tick is one transaction, or several after a pause, none of which takes long
(`scheduler.tick.unfinished`): in each, events, jobs, slots, journal, fire times and timers change together
or not at all. A crash before the commit leaves the old state, and the next tick does the same again;
a crash after it leaves PENDING_LAUNCH jobs, which `scheduler.launch.outbox` offers until a run is
observed. The cost of a tick depends on due rows and new events, not on the number of schedules.

What an expiry does: a command that the clock gives, which the tick calls by name. Reverting takes all that
a change by hand takes: a difference with its consequences, `on_update` and `on_suspend`. Those are
commands, which advance the engine themselves before they change anything; this one is called when that is
done (docs/adr/0041-an-override-reverts-as-a-command-at-its-instant.md). `tick` does not import commands, so
their module is named here, and loaded when something expires.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.verdict import earliest
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.clock import AWAY_AFTER, CLOCK, CLOCK_KEPT_FOR, TICKED, engine_clock
from tidegate.scheduler.tick.due import MICROSECOND
from tidegate.scheduler.tick.expected import judge_expected, next_judgement, note_landed
from tidegate.scheduler.tick.generate import INSTANCES_PER_TICK, RETURNED
from tidegate.scheduler.tick.ingest import Aside, ingest
from tidegate.scheduler.tick.instant import TickReport, replay_instants
from tidegate.scheduler.tick.landed import report_again
from tidegate.scheduler.tick.maintenance.poll import maintain, next_poll
from tidegate.scheduler.tick.missed import fire_missed
from tidegate.scheduler.tick.repaired import end_repaired
from tidegate.scheduler.tick.set_back import set_back
from tidegate.scheduler.tick.unfinished import (
    DECISIONS_AT_ONCE,
    Budget,
    Unfinished,
    note_unfinished,
    unfinished,
)
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

GoesOn = Callable[[EngineTransaction], bool]
"""Is called at the end of each transaction of a tick; returns whether the tick may go on in another one."""


def always(transaction: EngineTransaction) -> bool:
    """Let a tick go on to its end."""
    return True


def tick(store: Store, now: datetime, goes_on: GoesOn = always) -> TickReport:
    """Bring the store up to `now`, in as many transactions as it takes.

    Any number of schedulers may tick on the same store: transactions are serialised.
    """
    report, begun, over = TickReport(), False, False
    while not over:
        with store.transaction() as transaction:
            budget = Budget(DECISIONS_AT_ONCE)
            report = report.plus(finish(transaction, budget))
            if not begun and not budget.is_cut:
                begun = True
                caught_up = fire_missed(transaction)
                report = report.plus(_advance_to(transaction, now, budget)).plus(TickReport(fired=caught_up))
                known = transaction.cursor(TICKED)
                if known is None or abs(now - datetime.fromisoformat(known)) > CLOCK_KEPT_FOR:
                    transaction.set_cursor(TICKED, now.isoformat())
            over = not goes_on(transaction) or (begun and not budget.is_cut)
    return report


def go_on(store: Store, goes_on: GoesOn) -> TickReport:
    """Finish what a tick has left, in as many transactions as it takes; nothing is left as a rule."""
    with store.reading() as reader:
        left, report = unfinished(reader) is not None, TickReport()
    while left:
        with store.transaction() as transaction:
            budget = Budget(DECISIONS_AT_ONCE)
            report = report.plus(finish(transaction, budget))
            left = goes_on(transaction) and budget.is_cut
    return report


def advance_to(transaction: EngineTransaction, now: datetime) -> TickReport:
    """Bring the store up to `now` inside the caller's transaction."""
    return finish(transaction, Budget()).plus(_advance_to(transaction, now, Budget()))


def _advance_to(transaction: EngineTransaction, now: datetime, budget: Budget) -> TickReport:
    report = _expire(transaction, now, budget, now)
    if budget.is_cut:
        return report
    clock = engine_clock(transaction)
    if clock is not None and clock - now > AWAY_AFTER:
        set_back(transaction, clock, now)
    if clock is None or abs(now - clock) > AWAY_AFTER:
        transaction.set_cursor(RETURNED, now.isoformat())
        return report.plus(_replay(transaction, _begin(now, now), budget))
    return report.plus(_replay(transaction, _begin(clock, max(clock, now)), budget))


def finish(transaction: EngineTransaction, budget: Budget) -> TickReport:
    """Go on with what the last part of a tick has left."""
    left = unfinished(transaction)
    if left is None:
        return TickReport()
    note_unfinished(transaction, None)
    report = _replay(transaction, left, budget)
    if not budget.is_cut:
        transaction.set_cursor(CLOCK, left.until.isoformat())
    if left.expiring is not None and not budget.is_cut:
        report = report.plus(_advance_to(transaction, left.expiring, budget))
    return report


def advance_before(transaction: EngineTransaction, now: datetime) -> None:
    """Replay all instants before `now`, so that a command or an observation at `now` finds them done.

    While the scheduler is away it only reverts what has expired: everything else is handled when it returns.
    """
    finish(transaction, Budget())
    expire(transaction, now)
    _replay_before(transaction, now, Budget())


def _replay_before(
    transaction: EngineTransaction, now: datetime, budget: Budget, expiring: datetime | None = None
) -> TickReport:
    clock, report = engine_clock(transaction), TickReport()
    if clock is not None and clock < now <= clock + AWAY_AFTER:
        begun = msgspec.structs.replace(_begin(clock, now - MICROSECOND), expiring=expiring)
        report = _replay(transaction, begun, budget)
        if not budget.is_cut:
            # Exact, not only once a minute: the caller may make older rows due, which must not count earlier.
            transaction.set_cursor(CLOCK, (now - MICROSECOND).isoformat())
    return report


def expire(transaction: EngineTransaction, now: datetime) -> TickReport:
    """Revert the overrides that expire by `now`, each as a command at its own instant would.

    So what is due before an expiry is done under the override, and what comes with it or later is not,
    whatever the pace of the ticks; also while the scheduler is away.
    """
    return _expire(transaction, now, Budget())


def _expire(
    transaction: EngineTransaction, now: datetime, budget: Budget, expiring: datetime | None = None
) -> TickReport:
    report = TickReport()
    while due := transaction.due_records(OVERRIDES, now, 1):
        expires = due[0].expires_at or now
        clock = engine_clock(transaction)
        known = clock is not None and clock <= now + AWAY_AFTER
        at = max(expires, clock) if known and clock is not None else expires
        expired = transaction.due_records(OVERRIDES, expires, EXPIRED_AT_ONCE)
        report = report.plus(_replay_before(transaction, at, budget, expiring))
        if budget.is_cut:
            break
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


def _begin(clock: datetime, until: datetime) -> Unfinished:
    return Unfinished(at=clock, until=until, instances=INSTANCES_PER_TICK)


def _replay(transaction: EngineTransaction, left: Unfinished, budget: Budget) -> TickReport:
    """Replay what is left of a tick, or note what is left of it once the budget is spent."""
    report, start, clock = TickReport(), left.at, left.at
    while True:
        poll, begun, going, aside = next_poll(transaction, clock), clock, left.going, Aside()
        reach = _reach(transaction, clock, poll, left.until) if going is None else clock
        limit = None if budget.left is None else max(1, budget.left)
        work = WorkingSet(transaction, clock, reach, instances=left.instances, limit=limit, going=going)
        clock, done = replay_instants(work, clock, aside, budget, going)
        report = report.plus(done)
        closes = aside.left is None and (aside.breaks or (going is None and work.next_instant() is None))
        work.flush()
        clock = work.until if closes and not aside.breaks else clock
        note_landed(transaction, aside.landed, begun, clock)
        goes_on = True
        if closes:
            done, goes_on = _close(transaction, aside, begun, clock, poll)
            report = report.plus(done)
        else:
            maintain(transaction, aside.written, (), clock, polls=False)
        if clock >= left.until and not goes_on:
            break
        left = msgspec.structs.replace(left, at=clock, instances=work.instances_left, going=aside.left)
        if budget.is_spent:
            budget.is_cut = True
            note_unfinished(transaction, left)
            break
    stored = engine_clock(transaction)
    if report != TickReport() or stored is None or abs(clock - stored) > CLOCK_KEPT_FOR or clock < start:
        transaction.set_cursor(CLOCK, clock.isoformat())
    return report


def _close(
    transaction: EngineTransaction, aside: Aside, begun: datetime, clock: datetime, poll: datetime | None
) -> tuple[TickReport, bool]:
    """Do what follows the instants of a working set.

    Returns:
        What was done, and whether more may follow at the same instant.
    """
    end_repaired(transaction, aside.repaired, clock)
    report = TickReport(late=judge_expected(transaction, begun, clock))
    if aside.again:
        # The jobs of this instant are decided after it, by the next working set.
        report_again(transaction, aside.again, clock)
        return report, True
    done, goes_on = _maintain(transaction, aside, clock, poll)
    return report.plus(done), goes_on


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

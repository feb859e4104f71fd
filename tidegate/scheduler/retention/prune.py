"""Prune: old rows go in slices, each a transaction of its own.

    jobs ─► events with their deliveries ─► runs ─► launches ─► journal, between snapshots ─► pass ended

A slice looks at some hundred rows in the order of their index, lets `decision.retention` judge them,
deletes, adds what the ledger counted to its sums, and notes where it was. So it costs little, whatever the
store holds; a crash between two slices, or in one, loses nothing and counts nothing twice. A pass ends when
every old row was looked at; what had to stay is looked at again in the next one. Part of the shell.

Cutoffs count from the engine's clock, not before it: a scheduler that is away finds what it needs when it
returns.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tidegate.domain.time.instant import is_recent
from tidegate.domain.value import Value
from tidegate.scheduler.decision.retention import (
    RATES,
    event_may_go,
    instance_may_go,
    job_may_go,
    jobs_seen,
    launches_before,
    run_may_go,
)
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.instance import task_event_key
from tidegate.scheduler.model.job import WAITING, Job
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.model.records.alert import ALERTS
from tidegate.scheduler.model.records.expected import EXPECTED_PERIODS
from tidegate.scheduler.model.records.last_launch import LAST_LAUNCHES, LastLaunch
from tidegate.scheduler.model.records.partitions_report import PARTITIONS_REPORTS
from tidegate.scheduler.model.records.session import SESSIONS
from tidegate.scheduler.model.records.withheld import WITHHELD_EVENTS
from tidegate.scheduler.model.retention import PASS_CURSOR, OldJob, Pruned
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.retention.journal import prune_journal
from tidegate.scheduler.store.answers import Position
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.upkeep import UpkeepStore, UpkeepTransaction
from tidegate.scheduler.tick.clock import engine_clock

ROWS_PER_SLICE = 200
"""Old rows that one transaction looks at: some milliseconds."""

RELEASED_KEPT = timedelta(days=1)
"""For so long a released materialisation is known: rows of Dagster's log are read again within minutes."""

PASS_EVERY = timedelta(hours=1)
"""From the end of a pass to the beginning of the next one."""

SLICES_MAX = 1_000_000
"""A pass that does not end in so many slices is a bug."""


class Slice(Value, kw_only=True):
    """What one slice has done.

    Attributes:
        ended: nothing is left to do until the next pass.
    """

    pruned: Pruned = Pruned()
    ended: bool = False


def prune_slice(store: UpkeepStore, keep: Keep, now: datetime, *, at_once: bool = False) -> Slice:
    """Prune one slice.

    Args:
        at_once: begin a pass even if one has ended a short time ago.
    """
    with store.reading() as reader:
        noted: dict[str, Any] = reader.cursor(PASS_CURSOR) or {}
        if not at_once and _rests(noted, now):
            return Slice(ended=True)
        promised = frozenset(work_of_commit(each.commit).job for each in reader.commitments())
    with store.transaction() as transaction:
        clock = engine_clock(transaction)
        if clock is None:
            return Slice(ended=True)
        stage, after = _place(transaction.cursor(PASS_CURSOR) or {})
        page = Page(transaction, keep, min(clock, now), after, promised)
        done = STAGES[stage](page)
        ended = done.after is None and stage == len(STAGES) - 1
        noted = {"ended": now.isoformat()} if ended else _noted(stage, done.after)
        transaction.set_cursor(PASS_CURSOR, noted)
        return Slice(pruned=done.pruned, ended=ended)


def prune(store: UpkeepStore, keep: Keep, now: datetime, slices: int = SLICES_MAX) -> Pruned:
    """Prune a whole pass, from where the last one was left, in as many slices as it takes.

    Args:
        slices: the most slices.
    """
    total = Pruned()
    for _ in range(slices):
        done = prune_slice(store, keep, now, at_once=True)
        total = total.plus(done.pruned)
        if done.ended:
            break
    return total


def _rests(noted: dict[str, Any], now: datetime) -> bool:
    """Return whether a pass has just ended."""
    return "ended" in noted and is_recent(datetime.fromisoformat(noted["ended"]), now, PASS_EVERY)


def _place(noted: dict[str, Any]) -> tuple[int, Position | None]:
    after = noted.get("after")
    position = None if after is None else (datetime.fromisoformat(after[0]), after[1])
    return noted.get("stage", 0), position


def _noted(stage: int, after: Position | None) -> dict[str, Any]:
    if after is None:
        return {"stage": stage + 1}
    return {"stage": stage, "after": [after[0].isoformat(), after[1]]}


# --- the stages -------------------------------------------------------------------------


class Page(NamedTuple):
    """What a slice of a stage has to look at.

    Attributes:
        clock: from which the cutoffs count.
        after: the last row of the page before.
        promised: the jobs of unfinished commit sequences.
    """

    transaction: UpkeepTransaction
    keep: Keep
    clock: datetime
    after: Position | None
    promised: Collection[str]


class Done(Value, kw_only=True):
    """What a slice of a stage has done.

    Attributes:
        after: the last row that was looked at; None at the end of the stage.
    """

    pruned: Pruned = Pruned()
    after: Position | None = None


def _next(rows: Sequence[Any], last: Callable[[Any], Position]) -> Position | None:
    """Return the position of the last row of a full page."""
    return last(rows[-1]) if len(rows) == ROWS_PER_SLICE else None


def prunable_jobs(
    reader: ListingReader, rows: Collection[OldJob], before: datetime, promised: Collection[str]
) -> list[str]:
    """Return the ids of those of some old jobs that may go."""
    found = [old.job for old in rows if job_may_go(old, before, promised)]
    keyed = [job for job in found if job.key and job.launch is not None and job.instance is None]
    seen = jobs_seen(keyed, last_launches(reader, keyed), _waiting_repairs(reader, keyed))
    found = [job for job in found if job.id not in seen]
    tasks = sorted({job.schedule for job in found if job.instance is not None})
    if not tasks:
        return [job.id for job in found]
    unfinished = reader.open_instances()
    listeners = reader.records(SUBSCRIPTIONS, event_key=[*map(task_event_key, tasks)])
    waiting_for = {
        task: tuple(sorted({each.schedule for each in listeners if each.event_key == task_event_key(task)}))
        for task in tasks
    }
    return [
        job.id
        for job in found
        if job.instance is None
        or instance_may_go(
            job,
            reader.next_real(job.schedule, job.instance.number, job.instance.scheduled),
            unfinished,
            waiting_for,
        )
    ]


def last_launches(reader: EngineReader, jobs: Sequence[Job]) -> tuple[LastLaunch, ...]:
    """Return the last launches of the keys of some jobs."""
    if not jobs:
        return ()
    places = {(job.schedule, job.key) for job in jobs}
    refs, keys = {ref for ref, _ in places}, {key for _, key in places}
    found = reader.records(LAST_LAUNCHES, schedule=refs, key=keys)
    return tuple(each for each in found if (each.schedule, each.key) in places)


def _waiting_repairs(reader: EngineReader, jobs: Sequence[Job]) -> tuple[Job, ...]:
    refs = {job.schedule for job in jobs}
    return reader.jobs(schedules=refs, states=WAITING, repairs=True) if refs else ()


def _jobs(page: Page) -> Done:
    if page.keep.finished_jobs is None:
        return Done()
    before = page.clock - page.keep.finished_jobs
    rows = page.transaction.old_jobs(before, page.after, ROWS_PER_SLICE)
    gone = prunable_jobs(page.transaction, rows, before, page.promised)
    if gone:
        keyed = [old.job for old in rows if old.job.key and old.job.id in gone]
        over = [each for each in last_launches(page.transaction, keyed) if each.job in gone]
        page.transaction.add_sums(page.transaction.events_of_jobs(gone))
        page.transaction.drop_jobs(gone)
        page.transaction.drop_records(LAST_LAUNCHES, [LAST_LAUNCHES.key_of(each) for each in over])
    return Done(pruned=Pruned(jobs=len(gone)), after=_next(rows, lambda old: (old.job.opened_at, old.job.id)))


def _events(page: Page) -> Done:
    if page.keep.events is None:
        return Done()
    rows = page.transaction.old_events(page.clock - page.keep.events, page.after, ROWS_PER_SLICE)
    gone = [old.event.id for old in rows if event_may_go(old)]
    removed = 0
    if gone:
        page.transaction.add_sums(page.transaction.events_without_job(gone))
        removed = page.transaction.forget_events(gone)
    page.transaction.drop_old(PARTITIONS_REPORTS, page.clock - page.keep.events, ROWS_PER_SLICE)
    pruned = Pruned(events=len(gone), deliveries=removed)
    return Done(pruned=pruned, after=_next(rows, lambda old: (old.event.arrived, old.event.id)))


def _runs(page: Page) -> Done:
    if page.keep.finished_jobs is None:
        return Done()
    before = page.clock - page.keep.finished_jobs
    rows = page.transaction.old_runs(before, page.after, ROWS_PER_SLICE)
    history = page.transaction.history({old.run.program for old in rows})
    gone = [old.run.run_id for old in rows if run_may_go(old, history[old.run.program], before)]
    if gone:
        page.transaction.forget_runs(gone)
    return Done(
        pruned=Pruned(runs=len(gone)), after=_next(rows, lambda old: (old.run.seen_at, old.run.run_id))
    )


def _launches(page: Page) -> Done:
    if page.keep.launches is None:
        return Done()
    rates = page.transaction.constraints(RATES)
    before = launches_before(rates, page.keep.launches, page.keep.clock_error, page.clock)
    gone = page.transaction.old_launches(before, ROWS_PER_SLICE)
    page.transaction.drop_launches(gone)
    # Those that were looked at are gone: the next page begins with the oldest again.
    more = (before, "") if len(gone) == ROWS_PER_SLICE else None
    return Done(pruned=Pruned(launches=len(gone)), after=more)


def _journal(page: Page) -> Done:
    page.transaction.drop_old(SESSIONS, page.clock, ROWS_PER_SLICE)
    page.transaction.drop_old(WITHHELD_EVENTS, page.clock - RELEASED_KEPT, ROWS_PER_SLICE)
    if page.keep.journal is not None:
        page.transaction.drop_old(ALERTS, page.clock - page.keep.journal, ROWS_PER_SLICE)
        page.transaction.drop_old(EXPECTED_PERIODS, page.clock - page.keep.journal, ROWS_PER_SLICE)
    number = 0 if page.after is None else int(page.after[1])
    pruned, reached = prune_journal(page.transaction, page.keep.journal, page.clock, number, ROWS_PER_SLICE)
    return Done(pruned=pruned, after=None if reached is None else (page.clock, str(reached)))


STAGES = (_jobs, _events, _runs, _launches, _journal)

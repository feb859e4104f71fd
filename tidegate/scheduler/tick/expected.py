"""Data that is expected, in a tick: what has landed is noted, and each deadline is judged at its instant.

    events of an instant ──► landed partitions are noted ──► deadlines of that instant are judged

Both are in the transaction of the tick, so a period is late once, whichever process ticks and whatever
crashes. A tick asks an index which deadlines have passed; it searches neither events nor datasets. Part of
the shell.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from tidegate.domain.model import App
from tidegate.scheduler.decision.expected.judgement import Judged, expected_of, first_expected, judge, landed
from tidegate.scheduler.decision.expected.periods import period_in
from tidegate.scheduler.model.event import PARTITION_KEY, Event
from tidegate.scheduler.model.records.expected import (
    EXPECTED_DATA,
    EXPECTED_PERIODS,
    LATE_TOTALS,
    ExpectedData,
    ExpectedPeriod,
    LateTotal,
)
from tidegate.scheduler.model.set_back import not_ahead
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.scheduler.tick.generate import RETURNED

RETURN_GRACE = timedelta(minutes=1)
"""How long a scheduler that returns takes to read what has landed meanwhile; no deadline is judged before."""

JUDGED_PER_TICK = 500
"""After so many deadlines a tick leaves the others to the next one: a fraction of a second."""

LATE_OF_DATASET = 10_000
"""Late updates of one dataset without partitions that end with an update: more than retention keeps."""

EVENTS_AT_DEPLOYMENT = 1_000
"""The newest events of a dataset that count when its deadline is deployed, for what has landed already."""


LATE_AHEAD = 100_000
"""More late periods than retention keeps."""


def next_judgement(reader: EngineReader) -> datetime | None:
    """Return when the next deadline of a dataset is judged; None if there is none."""
    due = next((data.due_at for data in reader.due_records(EXPECTED_DATA, None, 1)), None)
    returned = None if due is None else _returned(reader)
    return due if due is None or returned is None else max(due, returned + RETURN_GRACE)


def judge_expected(transaction: EngineTransaction, since: datetime, now: datetime) -> int:
    """Judge all deadlines that have passed, each at its instant; return how many periods are late.

    Args:
        since: up to when deadlines were judged before.
    """
    judged, late = 0, 0
    while judged < JUDGED_PER_TICK:
        judgement = next_judgement(transaction)
        if judgement is None or judgement > now:
            break
        for data in transaction.due_records(EXPECTED_DATA, now, JUDGED_PER_TICK - judged):
            at = max(judgement, since, data.due_at or since)
            kept = transaction.records(EXPECTED_PERIODS, dataset=data.dataset, period=[data.period])
            found = judge(data, {each.period: each for each in kept}, at)
            _put(transaction, found)
            late += sum(each.late_at == at for each in found.kept)
            judged += 1
    return late


def note_landed(
    transaction: EngineTransaction, events: Sequence[Event], since: datetime, now: datetime
) -> None:
    """Note which partitions of datasets with a deadline have landed.

    Args:
        since: up to when deadlines were judged before.
    """
    by_dataset: dict[str, list[Event]] = {}
    for event in events:
        if event.partition is not None and event.origin is None:
            by_dataset.setdefault(event.key.removeprefix(PARTITION_KEY), []).append(event)
    if not by_dataset:
        return
    returned = None
    for data in transaction.records(EXPECTED_DATA, dataset=by_dataset):
        returned = returned or _returned(transaction)
        timed = [(event, _counts_from(event, returned)) for event in by_dataset[data.dataset]]
        _land(transaction, data, timed, since, now)


def follow_datasets(transaction: EngineTransaction, apps: Iterable[App], now: datetime) -> None:
    """Bring what is expected up to date with the deployed apps.

    Args:
        apps: all of them, by name.
    """
    before = {each.dataset: each for each in transaction.records(EXPECTED_DATA)}
    wanted = {each.dataset: each for each in _wanted(apps, before, now)}
    others = [name for name, each in before.items() if _other_periods(each, wanted.get(name))]
    transaction.drop_records(EXPECTED_DATA, others)
    transaction.drop_records(EXPECTED_PERIODS, others)
    changed = [each for name, each in wanted.items() if name in others or before.get(name) != each]
    transaction.put_records(EXPECTED_DATA, changed)
    for data in changed:
        if data.dataset in others or data.dataset not in before:
            note_known(transaction, data, now)


def note_known(transaction: EngineTransaction, data: ExpectedData, now: datetime) -> None:
    """Note which partitions of a dataset have landed, as the newest of its events say."""
    key = f"{PARTITION_KEY}{data.dataset}"
    found = transaction.events(key_prefix=key, limit=EVENTS_AT_DEPLOYMENT)
    timed = [(each, each.arrived) for each in found if each.key == key]
    # How long the silences before the last update were is not asked.
    _land(transaction, data, timed if data.partitions else timed[:1], now, now)


def count_late(transaction: EngineTransaction, names: Mapping[str, Collection[str]]) -> None:
    """Count what was noted as late.

    Args:
        names: "app/name" by kind, one for each time: schedule, task or dataset.
    """
    counted = Counter((kind, name) for kind, each in names.items() for name in each)
    if not counted:
        return
    totals = transaction.records(LATE_TOTALS, kind=names, name={name for _, name in counted})
    known = {(each.kind, each.name): each.number for each in totals}
    transaction.put_records(
        LATE_TOTALS,
        [
            LateTotal(kind=kind, name=name, number=known.get((kind, name), 0) + number)
            for (kind, name), number in sorted(counted.items())
        ],
    )


def _wanted(apps: Iterable[App], before: Mapping[str, ExpectedData], now: datetime) -> Iterable[ExpectedData]:
    for app in apps:
        for dataset in app.datasets.values():
            found = expected_of(app, dataset, before.get(f"{app.name}/{dataset.name}"), now)
            if found is not None:
                yield found


def _other_periods(before: ExpectedData, after: ExpectedData | None) -> bool:
    return after is None or after.partitions != before.partitions


def _land(
    transaction: EngineTransaction,
    data: ExpectedData,
    timed: Sequence[tuple[Event, datetime]],
    since: datetime,
    now: datetime,
) -> None:
    if not timed:
        return
    if data.partitions is None:
        wanted = LateWanted(dataset=data.dataset, now=True)
        kept: Sequence[ExpectedPeriod] = transaction.late_periods(wanted, LATE_OF_DATASET)
    else:
        keys = {period_in(data, event.partition or "") for event, _ in timed} - {None}
        kept = transaction.records(
            EXPECTED_PERIODS, dataset=data.dataset, period=[key for key in keys if key is not None]
        )
    _put(transaction, landed(data, {each.period: each for each in kept}, timed, since, now))


def _put(transaction: EngineTransaction, found: Judged) -> None:
    transaction.put_records(EXPECTED_DATA, [found.data])
    if found.kept:
        transaction.put_records(EXPECTED_PERIODS, found.kept)
    if found.gone:
        transaction.drop_records(EXPECTED_PERIODS, [(found.data.dataset, period) for period in found.gone])
    if not found.entries:
        return
    transaction.add_journal(found.entries)
    late = [found.data.dataset for entry in found.entries if entry.reason is not None]
    count_late(transaction, {"dataset": late})


def _counts_from(event: Event, returned: datetime | None) -> datetime:
    """Return from when on an event counts as landed: its arrival.

    What has landed while the scheduler was away, and is read when it returns, counts from when it happened.
    """
    if returned is not None and event.time <= returned and event.arrived <= returned + RETURN_GRACE:
        return min(event.time, event.arrived)
    return event.arrived


def _returned(reader: EngineReader) -> datetime | None:
    stored = reader.cursor(RETURNED)
    return None if stored is None else datetime.fromisoformat(stored)


# --- a clock that was set back --------------------------------------------------------


def set_expected_back(transaction: EngineTransaction, ahead: Sequence[Event], now: datetime) -> None:
    """Let the deadlines that were judged ahead of a clock that was set back be judged when they come.

    Args:
        ahead: the events that lie ahead; what has landed by them has landed now.
    """
    _judge_again(transaction, now)
    _land_now(transaction, ahead, now)


def _judge_again(transaction: EngineTransaction, now: datetime) -> None:
    before = transaction.records(EXPECTED_DATA)
    after = [first_expected(data, now) for data in before]
    transaction.put_records(EXPECTED_DATA, after)
    late = transaction.late_periods(LateWanted(), LATE_AHEAD)
    ahead = [each for each in late if each.due_at is not None and each.due_at > now]
    transaction.drop_records(EXPECTED_PERIODS, map(EXPECTED_PERIODS.key_of, ahead))
    kept = [each for each in late if each.due_at is None or each.due_at <= now]
    transaction.put_records(
        EXPECTED_PERIODS, [not_ahead(each, now) for each in kept if not_ahead(each, now) != each]
    )
    for known, data in zip(before, after, strict=True):
        if known.period != data.period:
            # What had landed of these periods went when they were judged.
            note_known(transaction, data, now)


def _land_now(transaction: EngineTransaction, ahead: Sequence[Event], now: datetime) -> None:
    """Let what has landed ahead, of periods that are not judged yet, have landed now."""
    keys: dict[str, list[str]] = {}
    for event in ahead:
        if event.partition is not None and event.key.startswith(PARTITION_KEY):
            keys.setdefault(event.key.removeprefix(PARTITION_KEY), []).append(event.partition)
    for data in transaction.records(EXPECTED_DATA, dataset=keys):
        periods = {period_in(data, key) for key in keys[data.dataset]} - {None}
        kept = transaction.records(
            EXPECTED_PERIODS, dataset=data.dataset, period=[key for key in periods if key is not None]
        )
        transaction.put_records(EXPECTED_PERIODS, [not_ahead(each, now) for each in kept])

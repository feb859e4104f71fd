"""Reports of partitions from outside, without Dagster: events that are routed in the same transaction.

    request unknown            ──► events, routed ──► accepted
    the same request and body  ──► the first answer again, nothing changes
    the same request, else     ──► refused

A wrong name or key refuses the whole report, and a refused one is not remembered. An accepted one is owed to
Dagster's log, which a host or dispatcher pays (`dagster_defs.ingest.owed_reports`): its entries have the ids
of the events, so reading them again changes nothing.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import Dataset
from tidegate.domain.nearest_key import key_hint, read_key
from tidegate.domain.partition_key import WrittenKey, not_begun, written_key
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.value import Value
from tidegate.scheduler.decision.asset_checks import CheckFact, Materialised
from tidegate.scheduler.intake.asset_checks import fold_checks, waited_for
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.journal import By, Entry, EntryKind
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
    PartitionsReport,
    ReportedPartition,
    report_id,
    reported_event_id,
)
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.clock import effective_at
from tidegate.scheduler.tick.tick import route_now

HINTS_MAX = 5
"""So many are read at once."""


class Landed(Value, kw_only=True):
    """A partition as it is reported.

    Attributes:
        key: None or "" for a dataset without partitions; its text, or a mapping of its dimensions.
        at: when its data came to be; None for the moment of the report.
    """

    key: WrittenKey | None = None
    rows: int | None = None
    bytes: int | None = None
    at: datetime | None = None


class Wrong(Value, kw_only=True):
    """What is wrong with a part of a report.

    Attributes:
        path: of the part in the report, such as "partitions[2].key".
    """

    code: str
    path: str
    summary: str
    hint: str = ""


class ReportRefused(Refused):
    """A report with names, keys or times that do not exist; all of them are in `wrong`."""

    def __init__(self, wrong: Sequence[Wrong]) -> None:
        hints = list(dict.fromkeys(each.hint for each in wrong if each.hint))
        super().__init__("; ".join(each.summary for each in wrong), "; ".join(hints[:HINTS_MAX]))
        self.wrong = tuple(wrong)


class RequestUsed(Refused):
    """A request key that was used for another report."""


def report_partitions(
    transaction: EngineTransaction,
    project: str,
    app: str,
    dataset: str,
    landed: Sequence[Landed],
    now: datetime,
    by: By,
    request: str,
) -> tuple[PartitionsReport, bool]:
    """Accept a report of partitions of a dataset.

    Args:
        project: the one to which the app belongs.
        request: a key of the caller's, different for each report.

    Returns:
        The report as it was accepted the first time, and whether that was an earlier call.

    Raises:
        ReportRefused: nothing was changed.
        RequestUsed: nothing was changed.
    """
    id_, asked = report_id(project, request), _asked(app, dataset, landed)
    known = record(transaction, PARTITIONS_REPORTS, id=id_)
    if known is not None:
        if known.asked != asked:
            raise RequestUsed(
                f"the request {request} was another report", "give each report a key of its own"
            )
        return known, True
    at = effective_at(transaction, now, now)
    wrong = _wrong(transaction, project, app, dataset, landed, at)
    if wrong:
        raise ReportRefused(wrong)
    report = PartitionsReport(
        id=id_,
        project=project,
        dataset=f"{app}/{dataset}",
        asked=asked,
        detail=f"reported by {by.actor}{f': {by.reason}' if by.reason else ''}",
        partitions=tuple(
            ReportedPartition(
                event=reported_event_id(id_, asked, position),
                key=written_key(each.key or ""),
                rows=each.rows,
                bytes=each.bytes,
                # A source whose clock is ahead must not delay its events.
                at=now if each.at is None else min(each.at.astimezone(UTC), now),
            )
            for position, each in enumerate(landed)
        ),
        at=at,
        owed_since=at,
    )
    events = _events(report, app, dataset)
    transaction.add_events(events)
    fold_checks(transaction, _checked(transaction, f"{app}/{dataset}", events), at)
    transaction.add_journal([_entry(report, by)])
    transaction.put_records(PARTITIONS_REPORTS, [report])
    route_now(transaction, at)
    return report, False


def _events(report: PartitionsReport, app: str, dataset: str) -> list[Event]:
    return [
        Event(
            id=each.event,
            kind=EventKind.PARTITION,
            key=partition_event_key(app, dataset),
            time=each.at,
            arrived=report.at,
            partition=each.key,
            bytes=each.bytes,
            rows=each.rows,
            detail=report.detail,
        )
        for each in report.partitions
    ]


def _checked(reader: EngineReader, dataset: str, events: Sequence[Event]) -> list[CheckFact]:
    """Return the facts by which reports of an asset pass its checks at once: no run has planned any."""
    if not waited_for(reader, [dataset]):
        return []
    return [Materialised(dataset=dataset, event=each, at=each.time) for each in events]


def _entry(report: PartitionsReport, by: By) -> Entry:
    facts = {"dataset": report.dataset, "partitions": len(report.partitions), "report": report.id}
    return Entry(at=report.at, kind=EntryKind.PARTITIONS, data={**facts, **by.noted})


def _asked(app: str, dataset: str, landed: Sequence[Landed]) -> str:
    # A key is the same however it is written.
    texts = [
        msgspec.structs.replace(each, key=written_key(each.key)) if each.key else each for each in landed
    ]
    return hashlib.sha256(msgspec.json.encode((app, dataset, texts))).hexdigest()


# --- what is wrong ----------------------------------------------------------------------


def _wrong(
    reader: EngineReader, project: str, app: str, dataset: str, landed: Sequence[Landed], now: datetime
) -> list[Wrong]:
    """Return all that is wrong with a report that arrives now."""
    deployed, projects = record(reader, APPS, name=app), (NO_PROJECT, project)
    if deployed is None or deployed.project not in projects:
        own = [each.name for each in reader.app_headers() if each.project in projects]
        hint = did_you_mean(app, own, "apps")
        return [Wrong(code="E-APP", path="app", summary=f'there is no app "{app:.100}"', hint=hint)]
    datasets = deployed.app.datasets
    if dataset not in datasets:
        summary, hint = (
            f'app {app} has no dataset "{dataset:.100}"',
            did_you_mean(dataset, datasets, "datasets"),
        )
        return [Wrong(code="E-DATASET", path="dataset", summary=summary, hint=hint)]
    found: list[Wrong] = []
    for position, each in enumerate(landed):
        path, wrong, hint = (
            f"partitions[{position}].key",
            *_wrong_key(app, datasets[dataset], each.key or "", now),
        )
        if wrong:
            found.append(Wrong(code="E-KEY", path=path, summary=wrong, hint=hint))
        if each.at is not None and not _in_range(each.at):
            summary = f"{each.at.isoformat()} is out of range"
            found.append(Wrong(code="E-TIME", path=f"partitions[{position}].at", summary=summary))
    return found


def _wrong_key(app: str, dataset: Dataset, written: WrittenKey, now: datetime) -> tuple[str, str]:
    """Return what is wrong with a key, and what to do about it; "" and "" for a key that is reported now."""
    name, scheme = f"{app}/{dataset.name}", dataset.partitions
    if scheme is None:
        wrong = f"{name} has no partitions, but the report has {written!r:.200}" if written else ""
        return wrong, "leave the key out"
    if not written:
        return f"{name} has partitions, and the report has none", key_hint(scheme)
    key = read_key(scheme, written)
    if not isinstance(key, str):
        return f"{name}, {written!r:.200}: {key.summary:.500}", key.hint
    if not_begun(scheme, key, now):
        return (
            f"{name}, {written!r:.200}: its period has not begun",
            "correct the key, or report it when it begins",
        )
    return "", ""


def _in_range(at: datetime) -> bool:
    try:
        at.astimezone(UTC)
    except OverflowError:
        return False
    return True

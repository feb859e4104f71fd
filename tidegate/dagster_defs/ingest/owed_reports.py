"""Reports of partitions that the engine has accepted, written to Dagster's log.

    accepted, owed ──► written, some at a time ──► progress stored ──► … ──► no longer owed

After a crash between the log and the store the same partitions are written again. Each entry has the id of
its event, so the engine counts it once, however often it comes. The process that has written it does not read
it back: the store has had the event since the report was accepted. Another one does, and so does
reconciliation.
"""

from collections.abc import Mapping, MutableSet, Sequence

import msgspec
from dagster import AssetKey, DagsterInstance

from tidegate.dagster_defs.coordinator.event_rows import EventRows, writes_events_together
from tidegate.dagster_defs.deployed.names import key_of_dataset
from tidegate.dagster_defs.ingest.position import content_id
from tidegate.dagster_defs.ingest.report_rows import ReportRows, materialisation
from tidegate.domain.part_name import Ref, app_of
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
    PartitionsReport,
    ReportedPartition,
)
from tidegate.scheduler.store.protocol import EngineTransaction, Store
from tidegate.scheduler.tick.tick import GoesOn, always

SENT_PER_ROUND = 500
"""Partitions of one round, which take some tenths of a second: jobs wait meanwhile."""

SENT_SINGLY = 200
"""The same where Dagster has to write them one by one, which takes some milliseconds for each."""

REPORTS_PER_READ = 50

WRITTEN_MAX = 20_000
"""Twice of what a round of ingestion reads: beyond it what is written is read back like what others write."""


def send_owed_reports(
    instance: DagsterInstance,
    store: Store,
    project: str,
    goes_on: GoesOn = always,
    written: MutableSet[str] | None = None,
) -> int:
    """Write reports of a project to Dagster's log, the oldest first; return how many partitions.

    Args:
        goes_on: is called in the transaction that notes the progress.
        written: gets the ids of the content of the rows that are written, which ingestion takes out again.
    """
    with store.reading() as reader:
        owed = reader.due_records(PARTITIONS_REPORTS, None, REPORTS_PER_READ, project=project)
        if not owed:
            return 0
        former = record_of(reader).former
        names = {former.get(report.dataset, report.dataset) for report in owed}
        apps = {each.name: each.app for each in reader.records(APPS, name={app_of(name) for name in names})}
    together = writes_events_together(instance)
    left = SENT_PER_ROUND if together else min(SENT_PER_ROUND, SENT_SINGLY)
    sending, sent = list[tuple[AssetKey, PartitionsReport, Sequence[ReportedPartition]]](), dict[str, int]()
    for report in owed:
        parts = report.partitions[report.sent : report.sent + left]
        app, name = Ref.of(former.get(report.dataset, report.dataset))
        key = key_of_dataset(app, name, apps[app].datasets.get(name) if app in apps else None)
        sending.append((key, report, parts))
        sent[report.id] = report.sent + len(parts)
        left -= len(parts)
        if not left:
            break
    if together:
        _write_together(instance, sending, set() if written is None else written)
    else:
        for key, report, parts in sending:
            for part in parts:
                instance.report_runless_asset_event(materialisation(key, report, part))
    with store.transaction() as transaction:
        _note_sent(transaction, sent)
        goes_on(transaction)
    return sum(len(parts) for _, _, parts in sending)


def _write_together(
    instance: DagsterInstance,
    sending: Sequence[tuple[AssetKey, PartitionsReport, Sequence[ReportedPartition]]],
    written: MutableSet[str],
) -> None:
    events = EventRows(instance)
    made = ReportRows(instance, events)
    for key, report, parts in sending:
        made.add(key, report, parts)
    events.add_rows(made.rows, made.last)
    if len(written) + len(made.rows) <= WRITTEN_MAX:
        written |= {content_id(row["event"]) for row in made.rows}


def _note_sent(transaction: EngineTransaction, sent: Mapping[str, int]) -> None:
    """Note how many partitions of each report are written, by its id."""
    noted: list[PartitionsReport] = []
    for report in transaction.records(PARTITIONS_REPORTS, id=set(sent)):
        if report.owed_since is None:
            continue
        # Another process may have come further.
        count = max(sent[report.id], report.sent)
        owed_since = None if count >= len(report.partitions) else report.owed_since
        noted.append(msgspec.structs.replace(report, sent=count, owed_since=owed_since))
    transaction.put_records(PARTITIONS_REPORTS, noted)

"""Reports of partitions that the engine has accepted, written to Dagster's log.

    accepted, owed ──► written, some at a time ──► progress stored ──► … ──► no longer owed

After a crash between the log and the store the same partitions are written again. Each entry has the id of
its event, so the engine counts it once, however often it comes.
"""

from datetime import datetime

import msgspec
from dagster import AssetKey, AssetMaterialization, DagsterInstance

from tidegate.dagster_defs.deployed.names import key_of_dataset
from tidegate.dagster_defs.deployed.sizes import size_metadata
from tidegate.dagster_defs.deployed.tags import EVENT
from tidegate.domain.part_name import Ref, app_of
from tidegate.scheduler.commands.deployment.rename import record_of
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
    PartitionsReport,
    ReportedPartition,
)
from tidegate.scheduler.store.engine_rows import record
from tidegate.scheduler.store.protocol import Store

SENT_PER_ROUND = 200
"""Partitions of one round: Dagster takes some milliseconds for each, and jobs wait meanwhile."""

REPORTS_PER_READ = 20


def send_owed_reports(instance: DagsterInstance, store: Store, project: str) -> int:
    """Write reports of a project to Dagster's log, the oldest first; return how many partitions."""
    with store.reading() as reader:
        owed = reader.due_records(PARTITIONS_REPORTS, None, REPORTS_PER_READ, project=project)
        former = record_of(reader).former if owed else {}
        names = {former.get(report.dataset, report.dataset) for report in owed}
        apps = {each.name: each.app for each in reader.records(APPS, name={app_of(name) for name in names})}
    left = SENT_PER_ROUND
    for report in owed:
        parts = report.partitions[report.sent : report.sent + left]
        app, name = Ref.of(former.get(report.dataset, report.dataset))
        key = key_of_dataset(app, name, apps[app].datasets.get(name) if app in apps else None)
        for part in parts:
            instance.report_runless_asset_event(_materialisation(key, report, part))
        _note_sent(store, report.id, report.sent + len(parts))
        left -= len(parts)
        if not left:
            break
    return SENT_PER_ROUND - left


def _note_sent(store: Store, id_: str, sent: int) -> None:
    with store.transaction() as transaction:
        report = record(transaction, PARTITIONS_REPORTS, id=id_)
        if report is None or report.owed_since is None:
            return
        # Another process may have come further.
        sent = max(sent, report.sent)
        owed_since: datetime | None = None if sent >= len(report.partitions) else report.owed_since
        transaction.put_records(
            PARTITIONS_REPORTS, [msgspec.structs.replace(report, sent=sent, owed_since=owed_since)]
        )


def _materialisation(
    key: AssetKey, report: PartitionsReport, part: ReportedPartition
) -> AssetMaterialization:
    return AssetMaterialization(
        key,
        partition=part.key or None,
        description=report.detail,
        metadata={
            **size_metadata(part.rows, part.bytes, part.key),
            "at": part.at.isoformat(),
            EVENT: part.event,
        },
    )

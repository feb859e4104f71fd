"""Reports of partitions that the engine has accepted, written to Dagster's log.

    accepted, owed ──► written, some at a time ──► progress stored ──► … ──► no longer owed

After a crash between the log and the store the same partitions are written again. Each entry has the id of
its event, so the engine counts it once, however often it comes.
"""

from datetime import datetime

import msgspec
from dagster import AssetMaterialization, DagsterInstance

from tidegate.dagster_defs.deployed.names import asset_key
from tidegate.dagster_defs.deployed.tags import EVENT
from tidegate.domain.part_name import Ref
from tidegate.scheduler.commands.deployment.rename import record_of
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
    left = SENT_PER_ROUND
    for report in owed:
        parts = report.partitions[report.sent : report.sent + left]
        for part in parts:
            dataset = former.get(report.dataset, report.dataset)
            instance.report_runless_asset_event(_materialisation(dataset, report, part))
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


def _materialisation(dataset: str, report: PartitionsReport, part: ReportedPartition) -> AssetMaterialization:
    app, name = Ref.of(dataset)
    sizes = {"rows": part.rows, "bytes": part.bytes}
    return AssetMaterialization(
        asset_key(app, name),
        partition=part.key or None,
        description=report.detail,
        metadata={
            **{name: size for name, size in sizes.items() if size is not None},
            "at": part.at.isoformat(),
            EVENT: part.event,
        },
    )

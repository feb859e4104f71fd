"""The contract of reports of partitions: what is kept, what is owed, and what goes."""

from datetime import datetime

from tests.worlds.samples import at
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
    PartitionsReport,
    ReportedPartition,
)
from tidegate.scheduler.store.protocol import Store


def kept(id: str, *, accepted: int = 1, owed: datetime | None = None, project: str = "p") -> PartitionsReport:
    return PartitionsReport(
        id=id,
        project=project,
        dataset="a/d",
        asked="x",
        detail="ä",
        partitions=(ReportedPartition(event="e", key="k", rows=2**40, at=at(0)),),
        at=at(accepted),
        owed_since=owed,
        sent=0 if owed else 1,
    )


def test_a_report_is_kept_and_replaced_by_its_id(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(PARTITIONS_REPORTS, [kept("a", owed=at(1)), kept("b")])
        transaction.put_records(PARTITIONS_REPORTS, [kept("a")])
    with store.reading() as reader:
        assert reader.records(PARTITIONS_REPORTS, id="a") == (kept("a"),)
        assert reader.records(PARTITIONS_REPORTS, id="c") == ()


def test_what_is_owed_comes_oldest_first(store: Store) -> None:
    reports = [
        kept("late", owed=at(9)),
        kept("b", owed=at(2)),
        kept("a", owed=at(2)),
        kept("done"),
        kept("elsewhere", owed=at(1), project=""),
    ]
    with store.transaction() as transaction:
        transaction.put_records(PARTITIONS_REPORTS, reports)
    with store.reading() as reader:
        assert [each.id for each in reader.due_records(PARTITIONS_REPORTS, None, 9, project="p")] == [
            "a",
            "b",
            "late",
        ]
        assert [each.id for each in reader.due_records(PARTITIONS_REPORTS, None, 1, project="p")] == ["a"]
        assert [each.id for each in reader.due_records(PARTITIONS_REPORTS, None, 9, project="")] == [
            "elsewhere"
        ]


def test_what_is_old_and_not_owed_goes(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_records(
            PARTITIONS_REPORTS,
            [kept("older", accepted=0), kept("old"), kept("new", accepted=5), kept("owed", owed=at(0))],
        )
        assert transaction.drop_old(PARTITIONS_REPORTS, at(5), 1) == 1
        assert transaction.records(PARTITIONS_REPORTS, id="older") == ()
        assert transaction.drop_old(PARTITIONS_REPORTS, at(5), 9) == 1
    with store.reading() as reader:
        left = [id for id in ("older", "old", "new", "owed") if reader.records(PARTITIONS_REPORTS, id=id)]
        assert left == ["new", "owed"]

"""The contract of reports of partitions: what is kept, what is owed, and what goes."""

from datetime import datetime

from tests.worlds.samples import at
from tidegate.scheduler.model.records.partitions_report import PartitionsReport, ReportedPartition
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
        transaction.put_partitions_reports([kept("a", owed=at(1)), kept("b")])
        transaction.put_partitions_reports([kept("a")])
    with store.reading() as reader:
        assert reader.partitions_report("a") == kept("a")
        assert reader.partitions_report("c") is None


def test_what_is_owed_comes_oldest_first(store: Store) -> None:
    reports = [
        kept("late", owed=at(9)),
        kept("b", owed=at(2)),
        kept("a", owed=at(2)),
        kept("done"),
        kept("elsewhere", owed=at(1), project=""),
    ]
    with store.transaction() as transaction:
        transaction.put_partitions_reports(reports)
    with store.reading() as reader:
        assert [each.id for each in reader.owed_reports("p", 9)] == ["a", "b", "late"]
        assert [each.id for each in reader.owed_reports("p", 1)] == ["a"]
        assert [each.id for each in reader.owed_reports("", 9)] == ["elsewhere"]


def test_what_is_old_and_not_owed_goes(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.put_partitions_reports(
            [kept("older", accepted=0), kept("old"), kept("new", accepted=5), kept("owed", owed=at(0))]
        )
        assert transaction.drop_partitions_reports(at(5), 1) == 1
        assert transaction.partitions_report("older") is None
        assert transaction.drop_partitions_reports(at(5), 9) == 1
    with store.reading() as reader:
        left = [id for id in ("older", "old", "new", "owed") if reader.partitions_report(id) is not None]
        assert left == ["new", "owed"]

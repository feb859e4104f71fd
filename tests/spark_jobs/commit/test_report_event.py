"""The step that tells the scheduler: it is done once everything is reported, and needs a store."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.spark_jobs.staging import daily, stage_rows
from tidegate.domain.published import PartitionFact
from tidegate.scheduler.intake.published import PublishedEvents
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.sequence import CommitSequence, decode_sequence, encode_sequence
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.errors import CommitFailed
from tidegate.spark_jobs.files.filesystem import LocalFiles
from tidegate.spark_jobs.publication.table import sequence_of

NOW = datetime(2023, 3, 10, 12, 0, tzinfo=UTC)
PARTITIONS = (PartitionFact("a/day", "2023-03-09", 3, 30), PartitionFact("a/total", "", 1, 10))
STEP = ReportEvent(commit="c1", partitions=PARTITIONS)


def test_it_tells_once_and_is_done_then() -> None:
    store = MemoryStore()
    context = CommitContext(files=LocalFiles(), events=PublishedEvents(lambda: store, lambda: NOW))
    assert STEP.verify(context) == NOT_DONE

    STEP.execute(context)
    STEP.execute(context)

    assert STEP.verify(context) == DONE
    with store.reading() as reader:
        assert len(reader.events()) == 2
    assert STEP.describe() == "report 2 partitions of a/day, a/total"


def test_it_survives_the_store() -> None:
    sequence = CommitSequence(id="c1", datasets=("a/day",), token=1, steps=(STEP,), result=())

    body = encode_sequence(sequence)

    assert '"partitions": [["a/day", "2023-03-09", 3, 30, ""], ["a/total", "", 1, 10, ""]]' in body
    assert decode_sequence(body).steps == (STEP,)


def test_where_nobody_can_be_told_it_stops_the_sequence() -> None:
    context = CommitContext(files=LocalFiles())

    with pytest.raises(CommitFailed, match="needs the schedule store"):
        STEP.verify(context)
    with pytest.raises(CommitFailed, match="needs the schedule store"):
        STEP.execute(context)


@pytest.mark.parametrize(("tells", "reports"), [(True, 1), (False, 0)])
def test_it_stands_after_the_publish_and_before_the_broom(tmp_path: Path, tells: bool, reports: int) -> None:
    warehouse = Warehouse(path=tmp_path, project=tmp_path)
    table = stage_rows(warehouse, daily("table"), {"2013-12-22": [1, 2]}, commit="c1", token=1)

    steps = sequence_of("c1", 1, [table], reports_events=tells).steps

    named = [step for step in steps if isinstance(step, ReportEvent)]
    assert len(named) == reports
    for step in named:
        place = steps.index(step)
        assert Effect.PUBLISHES in {earlier.effect for earlier in steps[:place]}
        assert {later.effect for later in steps[place + 1 :]} == {Effect.CLEANS}
        assert [fact[:3] for fact in step.partitions] == [("test/table", "2013-12-22", 2)]

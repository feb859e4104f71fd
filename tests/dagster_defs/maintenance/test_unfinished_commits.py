"""Publishes that dead runs have left in a Parquet table: finished before an operation touches the table."""

from pathlib import Path

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.instance import failure
from tests.dagster_defs.maintenance.operator import Operator, execute
from tests.dagster_defs.maintenance.shop import Shop, shop_app
from tests.spark_jobs.staging import put, read_rows, stage_rows
from tidegate.dagster_defs.maintenance import operation_run
from tidegate.scheduler.model.maintenance import Ending
from tidegate.scheduler.model.reason import Reason
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import CommitBusy
from tidegate.spark_jobs.parquet.output import staging_folder
from tidegate.spark_jobs.publication.table import sequence_of

pytestmark = pytest.mark.dagster

NOTES = DatasetRef(app="shop", name="notes")


@pytest.fixture
def shop(instance: DagsterInstance, tmp_path: Path) -> Shop:
    """A run has put its publish into the Parquet dataset, and died."""
    made = Shop(instance, shop_app("shop/notes"), folder=tmp_path)
    table = stage_rows(made.location.warehouse, NOTES, {"": [1, 2]}, commit="c1", token=1)
    put(made.location.open_commits(), sequence_of("c1", 1, [table], reports_events=True))
    return made


def test_they_are_finished_first(shop: Shop, operator: Operator) -> None:
    assert execute(shop).success

    assert shop.location.open_commits().list_unfinished() == ()
    assert read_rows(shop.location.warehouse, NOTES) == {"": [1, 2]}
    assert len(operator.calls) == 1


def test_one_that_another_process_is_finishing_is_a_lost_race(
    shop: Shop, operator: Operator, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: object) -> None:
        raise CommitBusy("commit c1 is being finished by process 7", "wait for its end")

    monkeypatch.setattr(operation_run, "recover", busy)

    assert execute(shop).success

    assert operator.calls == []
    assert (shop.run().ending, shop.job().reason) == (Ending.CONFLICT, Reason.F_CONFLICT)
    assert "commit c1 is being finished by process 7" in shop.job().detail


def test_if_one_cannot_be_finished_the_table_is_left_alone(shop: Shop, operator: Operator) -> None:
    warehouse = shop.location.warehouse
    warehouse.files.delete(staging_folder(NOTES.root(warehouse), "c1", 1))

    result = execute(shop)

    assert "staged" in failure(result)
    assert operator.calls == []
    assert (shop.run().ending, shop.run().changed) == (Ending.FAILED, False)

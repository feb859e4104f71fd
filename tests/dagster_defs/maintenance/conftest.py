"""A shop with a policy for one of its datasets, and what is in place of Spark for its tables."""

from pathlib import Path

import pytest
from dagster import DagsterInstance

from tests.dagster_defs.maintenance.measuring.world import WHEN, FakeSpark
from tests.dagster_defs.maintenance.operator import Operator
from tests.dagster_defs.maintenance.shop import Shop, shop_app
from tidegate.dagster_defs.maintenance import measuring as measuring_run
from tidegate.dagster_defs.maintenance import operation_run


@pytest.fixture
def shop(instance: DagsterInstance, tmp_path: Path) -> Shop:
    return Shop(instance, shop_app(), folder=tmp_path)


@pytest.fixture
def waiting(instance: DagsterInstance) -> Shop:
    """A shop whose policy has a condition, so a decision waits until the table is measured."""
    return Shop(instance, shop_app(yaml=WHEN))


@pytest.fixture
def faked(monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    made = FakeSpark()
    monkeypatch.setattr(measuring_run, "session", lambda _: None)
    monkeypatch.setattr(measuring_run, "iceberg_catalogs", lambda _: tuple(made.catalogs))
    monkeypatch.setattr(measuring_run, "list_tables", made.list)
    monkeypatch.setattr(measuring_run, "measure_many", made.measure)
    return made


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> Operator:
    made = Operator()
    monkeypatch.setattr(operation_run, "run_operation", made)
    return made

"""A shop whose policy waits for measures, and what is in place of Spark when they are taken."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from dagster import DagsterInstance, RunRequest

from tests.dagster_defs.maintenance.shop import MINUTE, YAML, Shop, shop_app
from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.deployed.names import MEASURING
from tidegate.dagster_defs.deployed.tags import PROJECT
from tidegate.scheduler.model.maintenance import Health
from tidegate.spark_jobs.maintenance.listing import Listing, Unlisted
from tidegate.spark_jobs.maintenance.measuring import TableToMeasure
from tidegate.spark_jobs.maintenance.request import Gone

WHEN = YAML.replace("interval: 1h,", "interval: 1h, when: {any: [{files: 100}]},")
LAKE = '"lake.*.*"'


@dataclass
class FakeSpark:
    """In place of Spark: catalogs with tables, and what is measured of each."""

    catalogs: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    broken: tuple[str, ...] = ()
    listed: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    batches: list[list[TableToMeasure]] = field(default_factory=list[list[TableToMeasure]])
    measured: Callable[[str, datetime], Health | Gone] = lambda _, now: Health(
        measured_at=now, values={"files": 7}
    )

    def list(self, _spark: object, catalogs: Sequence[str]) -> Listing:
        self.listed.append(tuple(catalogs))
        whole = [name for name in catalogs if name not in self.broken]
        return Listing(
            tables=tuple(table for name in catalogs for table in self.catalogs[name]),
            complete=tuple(whole),
            failures=tuple(Unlisted(where=name, why="no answer") for name in catalogs if name in self.broken),
        )

    def measure(
        self, _spark: object, tables: Sequence[TableToMeasure], now: datetime, *, warehouse: object
    ) -> dict[str, Health | Gone]:
        assert warehouse is not None
        self.batches.append(list(tables))
        return {each.table.name: self.measured(each.table.name, now) for each in tables}


def lake(instance: DagsterInstance) -> Shop:
    """Its policy is for all tables of a catalog."""
    return Shop(instance, shop_app(LAKE, WHEN))


def waiting_for(instance: DagsterInstance, *tables: str) -> Shop:
    """Its policy has found tables of the lake, and a poll waits for what is measured of them."""
    shop = lake(instance)
    shop.find(*tables)
    shop.now += MINUTE
    shop.tick()
    return shop


def measuring(shop: Shop) -> list[RunRequest]:
    return [each for each in shop.requests() if each.job_name == MEASURING]


def work(shop: Shop) -> str:
    """A measuring run, in this process; returns what it has logged."""
    result = shop.execute(MEASURING, {PROJECT: NO_PROJECT})
    assert result.success
    return "\n".join(entry.user_message for entry in shop.instance.all_logs(result.run_id))


def numbers(shop: Shop) -> dict[str, object]:
    """What the output of a measuring run says."""
    result = shop.execute(MEASURING, {PROJECT: NO_PROJECT})
    (event,) = [event for event in result.all_events if event.is_successful_output]
    return {name: value.value for name, value in event.step_output_data.metadata.items()}

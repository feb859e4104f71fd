"""Two Dagster assets whose tables are published exactly once by `TidegateIOManager`.

Run it as `python examples/io_manager.py FOLDER`; the tables and the store are made in the folder.
"""

import sys
from pathlib import Path

from dagster import AssetsDefinition, DailyPartitionsDefinition, asset, materialize
from pyspark.sql import DataFrame

from tidegate import TidegateIOManager

DAYS = DailyPartitionsDefinition("2024-03-01")
ORDERS = [("2024-03-01", "tea", 2), ("2024-03-01", "rice", 5), ("2024-03-01", "tea", 1)]


def assets_of(tables: TidegateIOManager) -> list[AssetsDefinition]:
    """Return the assets; they know DataFrames only, and no table."""

    @asset(key_prefix="shop", partitions_def=DAYS)
    def orders() -> DataFrame:
        return tables.spark_session.createDataFrame(ORDERS, "day string, item string, quantity long")

    # A row replaces the one with the same day and item, so a run may be repeated.
    @asset(
        key_prefix="shop",
        partitions_def=DAYS,
        metadata={"tidegate/write": "merge", "tidegate/merge_keys": ["item"]},
    )
    def by_item(orders: DataFrame) -> DataFrame:
        return orders.groupBy("day", "item").sum("quantity").toDF("day", "item", "quantity")

    return [orders, by_item]


def main(folder: Path) -> Path:
    """Materialize one day, and return the folder of the table `by_item`."""
    tables = TidegateIOManager(warehouse=str(folder / "warehouse"), store=f"sqlite:///{folder / 'store.db'}")
    result = materialize(assets_of(tables), partition_key="2024-03-01", resources={"io_manager": tables})
    assert result.success
    return folder / "warehouse" / "shop" / "by_item"


if __name__ == "__main__":
    print(main(Path(sys.argv[1]).resolve()))

"""Which dataset an asset is published to: name, partition columns, format and write mode."""

from typing import Any

import pytest
from dagster import (
    AssetKey,
    DailyPartitionsDefinition,
    DynamicPartitionsDefinition,
    HourlyPartitionsDefinition,
    MetadataValue,
    MultiPartitionsDefinition,
    PartitionsDefinition,
    StaticPartitionsDefinition,
    TimeWindowPartitionsDefinition,
    WeeklyPartitionsDefinition,
)

from tidegate.dagster_defs.io_manager.dataset import dataset_of, scheme_of
from tidegate.dagster_defs.io_manager.step_outputs import bounded
from tidegate.domain.model import (
    Bounds,
    DeclaredColumn,
    NotNullCheck,
    RangeCheck,
    RowsCheck,
    UniqueCheck,
)
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef
from tidegate.spark_jobs.errors import OutputError

pytestmark = pytest.mark.dagster

DAYS = DailyPartitionsDefinition("2023-03-01", timezone="Europe/Berlin")
NAMES = StaticPartitionsDefinition(["n", "s"])
AT_SIX = TimeWindowPartitionsDefinition(start="2023-03-01", fmt="%Y-%m-%d", cron_schedule="0 6 * * *")


def ref(*path: str, partitions: PartitionsDefinition | None = None, **metadata: Any) -> DatasetRef:
    """The dataset of an asset; metadata without its prefix."""
    named = {f"tidegate/{name}": value for name, value in metadata.items()}
    return dataset_of(AssetKey(list(path)), named, partitions, app="assets", default_format="parquet")


@pytest.mark.parametrize(
    ("path", "given", "dataset", "asset"),
    [
        (("orders",), None, "assets/orders", "orders"),
        (("shop", "orders"), None, "shop/orders", ""),
        (("shop", "eu", "orders"), None, "shop/eu__orders", "shop/eu/orders"),
        (("orders",), "shop/clean", "shop/clean", "orders"),
        (("shop", "orders"), MetadataValue.text("shop/orders"), "shop/orders", ""),
    ],
)
def test_the_name(path: tuple[str, ...], given: object, dataset: str, asset: str) -> None:
    found = ref(*path) if given is None else ref(*path, dataset=given)

    assert (found.id, found.asset) == (dataset, asset)


def test_defaults_and_metadata() -> None:
    assert (ref("a").write, ref("a").format, ref("a").scheme) == ("full", "parquet", None)
    assert ref("a", partitions=DAYS).write == "overwrite_partitions"
    merged = ref("a", write="merge", merge_keys=MetadataValue.json(["id"]), format="iceberg")
    assert (merged.write, merged.merge_keys, merged.format) == ("merge", ("id",), "iceberg")
    assert ref("a", write="merge", merge_keys="id").merge_keys == ("id",)
    assert (merged.on_foreign, ref("a", on_foreign="replace").on_foreign) == ("refuse", "replace")


def test_declared_columns_are_those_of_the_yaml_with_the_partition_columns() -> None:
    written = {"id": "LONG", "delay": {"type": "integer", "nullable": False, "unit": "min"}}
    found = ref("a", partitions=DAYS, columns=MetadataValue.json(written), on_new_column="add")
    assert found.columns == (
        DeclaredColumn(name="id", type="bigint"),
        DeclaredColumn(name="delay", type="int", nullable=False, unit="min"),
        DeclaredColumn(name="day", type="string"),
    )
    assert (found.on_new_column, ref("a").columns, ref("a").on_new_column) == ("add", (), "refuse")
    with pytest.raises(OutputError, match="must be day as string, since it is a partition column"):
        ref("a", partitions=DAYS, columns={"day": "date"})


def test_checks_are_those_of_the_yaml_beside_those_of_declared_columns() -> None:
    written = [
        {"rows": {"min": 1}},
        {"unique": ["id", "Leg"], "severity": "warn"},
        {"range": {"price": {"min": 0}}, "name": "cheap"},
    ]
    columns = {"id": {"type": "bigint", "nullable": False}}
    found = ref("a", checks=MetadataValue.json(written), columns=columns).checks
    assert found == (
        RowsCheck(name="rows", min=1),
        UniqueCheck(name="unique_id_leg", columns=("id", "Leg"), severity="warn"),
        RangeCheck(name="cheap", range={"price": Bounds(min=0)}),
        NotNullCheck(name="column_id", columns=("id",)),
    )


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"checks": {"rows": 1}}, "tidegate/checks must be a list of checks, got {'rows': 1}"),
        (
            {"checks": [{"row": {"min": 1}}]},
            "a check is one of rows, not_null, unique",
        ),
        ({"checks": [{"rows": {"min": 1}, "unique": ["id"]}]}, "a check is one of rows, not_null"),
        ({"checks": [{"rows": {"mni": 1}}]}, "the check rows does not have this form, got {'mni': 1}"),
        ({"checks": [{"unique": "id"}]}, "the check unique does not have this form: Expected `array`"),
        ({"checks": [{"rows": {"min": 1}}, {"rows": {"max": 2}}]}, "two checks have the name rows"),
        (
            {"checks": [{"not_null": ["id"], "severity": "error"}]},
            "the check not_null does not have this form",
        ),
        ({"mode": "merge"}, 'unknown metadata "tidegate/mode"'),
        (
            {"write": "upsert"},
            "tidegate/write must be append, overwrite_partitions, merge or full, got 'upsert'",
        ),
        ({"write": ["append"]}, "tidegate/write must be"),
        ({"write": "merge"}, "merging needs the columns that identify a row"),
        ({"merge_keys": ["id"]}, "merge keys belong to merge, got full"),
        ({"write": "merge", "merge_keys": 3}, "tidegate/merge_keys must be a list of columns, got 3"),
        ({"write": "overwrite_partitions"}, "an asset without partitions has no partitions to overwrite"),
        ({"format": "delta"}, "tidegate/format must be parquet or iceberg, got 'delta'"),
        ({"format": ["iceberg"]}, "tidegate/format must be"),
        ({"on_foreign": "merge"}, "tidegate/on_foreign must be refuse or replace, got 'merge'"),
        ({"columns": ["id"]}, "tidegate/columns must be a mapping, got ['id']"),
        ({"columns": {"id": "bigin"}}, "tidegate/columns must be names with their types; 'id': a column has"),
        ({"columns": {"id": {"nullable": True}}}, "tidegate/columns must be names with their types; 'id'"),
        ({"columns": {"id": {"type": "int", "null": True}}}, "tidegate/columns must be names"),
        ({"columns": {"id": "int", "ID": "int"}}, "tidegate/columns must be different names"),
        ({"columns": {"_file": "int"}}, "tidegate/columns must be different names"),
        ({"on_new_column": "drop"}, "tidegate/on_new_column must be refuse or add, got 'drop'"),
        ({"dataset": "orders"}, "tidegate/dataset must be an app and a dataset, got 'orders'"),
        ({"dataset": 3}, "tidegate/dataset must be"),
    ],
)
def test_wrong_metadata_is_refused(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(OutputError) as refused:
        ref("shop", "orders", **metadata)

    assert str(refused.value).startswith(f"shop/orders: {message}")


@pytest.mark.parametrize(
    ("definition", "expr", "columns", "cycle"),
    [
        (DAYS, None, ("day",), "day"),
        (DAYS, "date", ("date",), "day"),
        (HourlyPartitionsDefinition("2023-03-01-00:00"), None, ("hour",), "hour"),
        (WeeklyPartitionsDefinition("2023-03-01", day_offset=1), None, ("week",), "week"),
        (AT_SIX, None, ("partition",), None),
        (NAMES, None, ("partition",), None),
        (DynamicPartitionsDefinition(name="x"), "who", ("who",), None),
        (MultiPartitionsDefinition({"region": NAMES, "day": DAYS}), None, ("day", "region"), "day"),
        (MultiPartitionsDefinition({"b": NAMES, "a": NAMES}), {"b": "first"}, ("a", "first"), None),
    ],
)
def test_the_partition_columns(
    definition: PartitionsDefinition, expr: object, columns: tuple[str, ...], cycle: str | None
) -> None:
    scheme = scheme_of("a", definition, expr)

    assert scheme is not None
    assert scheme.dimension_names() == columns
    assert (scheme.time.cycle if scheme.time else None) == cycle
    if scheme.time is not None:
        assert scheme.time.name in columns


@pytest.mark.parametrize(
    ("definition", "expr", "message"),
    [
        (DAYS, "to_date(day)", "partition_expr must be the name of a column, got 'to_date(day)'"),
        (DAYS, {"day": "day"}, "partition_expr must be the name of a column"),
        (MultiPartitionsDefinition({"x": NAMES, "day": DAYS}), "day", "partition_expr must be a mapping"),
        (
            MultiPartitionsDefinition({"x": NAMES, "day": DAYS}),
            {"y": "day"},
            "partition_expr must be a mapping",
        ),
        (MultiPartitionsDefinition({"x": NAMES, "day": DAYS}), {"x": "DAY"}, "two dimensions have the"),
    ],
)
def test_wrong_columns_are_refused(definition: PartitionsDefinition, expr: object, message: str) -> None:
    with pytest.raises(OutputError) as refused:
        scheme_of("a", definition, expr)

    assert str(refused.value).startswith(f"a: {message}")


def test_long_ids_stay_different() -> None:
    assert bounded("x" * 200) == "x" * 200
    assert len(bounded("x" * 300)) < 220
    assert bounded("x" * 300) != bounded("x" * 301)

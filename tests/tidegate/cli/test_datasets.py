"""`tidegate datasets show` and `tidegate columns`: what is declared of a dataset, and what its table has."""

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from tests.spark_jobs.publishing import Publisher
from tests.tidegate.project import Project
from tidegate.domain.model import Dataset
from tidegate.project.settings.settings import load_settings
from tidegate.project.spark import warehouse
from tidegate.project.yaml_files import compile_paths
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref

DECLARED = """\
app: shop
datasets:
  raw: {path: landing/raw}
  sold:
    partitions: {cycle: day, start: 2026-01-01}
    description: one row for each sale
    columns:
      id: bigint
      price: {type: "decimal(10,2)", nullable: false, unit: EUR, description: "paid, with tax"}
    on_new_column: add
programs:
  sell: {run: programs.sell, reads: [raw], writes: [sold]}
"""


@pytest.mark.slow
@pytest.mark.parametrize("deployed", [False, True])
def test_a_dataset_is_shown_with_its_columns(project: Project, deployed: bool) -> None:
    project.write("shop", DECLARED)
    if deployed:
        project.run("deploy", "--no-imports")
    lines = [line.split() for line in project.run("datasets", "show", "sold").splitlines()]
    assert ["written", "by", "shop/sell"] in lines
    assert ["price", "decimal(10,2)", "no", "EUR", "paid,", "with", "tax"] in lines
    assert ["day", "string"] in lines
    shown = json.loads(project.run("datasets", "show", "shop/sold", "--format", "json"))
    assert (shown["source"], shown["dataset"]) == ("deployed" if deployed else "yaml", "shop/sold")
    assert [column["name"] for column in shown["columns"]] == ["id", "price", "day"]
    assert (shown["on_new_column"], shown["written_by"], shown["read_by"]) == ("add", ["shop/sell"], [])
    assert "columns" not in project.run("datasets", "show", "raw").split()
    assert 'there is no dataset "sald"' in project.refused("datasets", "show", "sald").message


@pytest.mark.spark
@pytest.mark.parametrize("format", ["parquet", "iceberg"])
def test_the_block_of_a_table_lints_and_compiles_to_the_same_columns(
    project: Project, spark: SparkSession, format: str
) -> None:
    app = Publisher(project.folder, spark).app
    days = "partitions: {cycle: day, start: 2026-01-01}"
    text = f"app: {app}\ndatasets:\n  sold:\n    format: {format}\n    {days}\n"
    project.write(
        "shop", f"{text}  landed: {{path: landing/raw}}\nprograms: {{p: {{run: a.b, writes: [sold]}}}}\n"
    )
    assert "has no table and no files yet" in project.refused("columns", f"{app}/sold").message

    house = Publisher(project.folder, spark)
    house.warehouse = warehouse(load_settings())
    declared = compiled(project.folder / "schedules/shop.yaml", app)
    frame = spark.sql(
        "SELECT 1L AS id, CAST(2 AS DECIMAL(10,2)) AS price, array(named_struct('a b', 1)) AS `on`, "
        "'x' AS `é: #`"
    ).withMetadata("price", {"comment": 'paid: "with" tax [EUR]'})
    house.publish(dataset_ref(app, declared), frame, "2026-01-01")

    block = project.run("columns", f"{app}/sold")
    assert block.startswith("columns:\n  id: bigint\n")
    indented = "".join(f"    {line}\n" for line in block.splitlines())
    project.write("shop", text + indented)
    column = compiled(project.folder / "schedules/shop.yaml", app).columns
    assert [(each.name, each.type) for each in column] == [
        ("id", "bigint"),
        ("price", "decimal(10,2)"),
        ("on", "array<struct<`a b`:int>>"),
        ("é: #", "string"),
    ]
    assert (column[1].unit, column[1].description) == ("EUR", 'paid: "with" tax')
    assert json.loads(project.run("columns", f"{app}/sold", "--format", "json"))["left_out"] == []


@pytest.mark.spark
def test_what_landed_files_have_that_cannot_be_declared_is_a_comment(
    project: Project, spark: SparkSession
) -> None:
    project.write("shop", "app: shop\ndatasets: {raw: {path: landing/raw}}\n")
    frame = spark.range(1).withColumn("took", sf.expr("make_dt_interval(1)")).withColumn("_file", sf.lit("x"))
    frame.write.parquet(str(project.folder / "landing/raw"))
    assert project.run("columns", "raw").splitlines() == [
        "columns: {id: bigint}",
        "  # left out: took is interval day to second; write bigint, and the unit of the number under `unit`",
        "  # left out: _file, whose name is reserved",
    ]


def compiled(file: Path, app: str) -> Dataset:
    compilation = compile_paths([file])
    assert not [each for each in compilation.diagnostics if each.severity == "error"], compilation.diagnostics
    return compilation.models()[app].datasets["sold"]

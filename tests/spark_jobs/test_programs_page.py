"""`docs/programs.md`: its app is clean, and its program does with landed files what the page says."""

import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import Row, SparkSession

from tidegate.compiler.compile import compile_files
from tidegate.domain.model import App
from tidegate.domain.published import PublishedPartition
from tidegate.project.settings.settings import load_settings
from tidegate.project.spark import warehouse
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.open import open_sql_store
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "programs.md").read_text()
DAY = "2025-06-01"
LANDED = {
    f"day={DAY}/region=north/orders.parquet": ("tea", 2),
    f"day={DAY}/region=south/part-0.parquet": ("cake", 1),
    f"day={DAY}/region=south/part-1.parquet": ("tea", -1),
    f"day={DAY}/region=south/_part-2.parquet": ("not seen", 9),
    f"day={DAY}/region=west/part-0.parquet": ("not a key", 9),
    "day=2025-06-02/region=north/orders.parquet": ("of another day", 9),
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def app() -> App:
    compilation = compile_files({"shop.yaml": blocks("yaml")[0].encode()}, date(2025, 6, 2))
    assert not compilation.diagnostics
    return compilation.models()["shop"]


def launched(spark: SparkSession, folder: Path, args: Mapping[str, int]) -> tuple[PublishedPartition, ...]:
    """The program of the page, run in a project whose files are landed."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name, (item, quantity) in LANDED.items():
        file = folder / "landing/orders" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({"item": [item], "quantity": [quantity]}), file)
    settings = load_settings(folder)
    store = open_sql_store(settings.store_url)
    (program,) = app().programs.values()
    try:
        return run_program(
            spark,
            warehouse(settings),
            SqlCommitStepStore(store.engine),
            app="shop",
            program=program,
            datasets=app().datasets,
            params=Params(args=args, partitions=(DAY,), job="job-1"),
            commit="commit-1",
        )
    finally:
        store.close()


def rows(spark: SparkSession, name: str) -> list[Row]:
    found = read(spark, dataset_ref("shop", app().datasets[name]), warehouse(load_settings()))
    assert found is not None
    return sorted(found.select("day", "item", "quantity").collect())


def test_landed_files_are_read_by_their_folders_and_published_as_several_outputs(
    spark: SparkSession, project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project_folder / "programs").mkdir()
    (project_folder / "programs" / "split_orders.py").write_text(blocks("python")[0])
    monkeypatch.syspath_prepend(project_folder)

    published = launched(spark, project_folder, args={"smallest": 0})

    assert {(part.dataset, part.key, part.rows) for part in published} == {
        ("sales", DAY, 2),
        ("refunds", DAY, 1),
    }
    assert rows(spark, "sales") == [(DAY, "cake", 1), (DAY, "tea", 2)]
    assert rows(spark, "refunds") == [(DAY, "tea", -1)]


def test_data_is_reported_as_in_the_page_whose_commands_are_run() -> None:
    followed = (DOCS / "getting-started.md").read_text()

    assert blocks("sh")[0] in followed
    assert blocks("python")[1] in followed

"""SQL programs in whole runs: their tables are those of pandas, in each write mode, whatever crashes."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import pandas as pd
import pytest
from pyspark.sql import SparkSession

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.effort import only
from tidegate.domain.model import Dataset, PartitionScheme, Program, SqlQuery, TimeDimension
from tidegate.domain.model.dataset import WriteMode
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.spark_jobs.commit import publish as publishing
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.publication.table import read_selected
from tidegate.spark_jobs.runner import run_program

pytestmark = pytest.mark.spark

DAYS = ("2026-01-01", "2026-01-02")
DAILY = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2026-01-01"))
SALES = Dataset(name="sales", partitions=DAILY, path="landing/sales")
SHOPS = Dataset(name="shops", path="landing/shops")

TOTALS = """
SELECT day, shop, town, sum(amount) AS amount, count(*) AS n
FROM sales JOIN `feeds/shops` USING (shop)
WHERE amount >= :least AND array_contains(:towns, town)
GROUP BY day, shop, town
"""
BEST = "SELECT day, max(amount) AS amount FROM totals GROUP BY day"

_apps = count(1)


class Shop:
    """An app whose sales land in files; what has landed is kept for pandas."""

    def __init__(self, folder: Path, spark: SparkSession, kind: DatasetFormat) -> None:
        self.spark, self.folder, self.kind = spark, folder, kind
        self.app = f"shop_{next(_apps)}"
        self.store = MemoryCommitStepStore()
        self.warehouse = Warehouse(path=folder / "warehouse", project=folder)
        self.landed = pd.DataFrame()
        shops = pd.DataFrame({"shop": ["a", "b", "c"], "town": ["Kiel", "Ulm", "Jena"]})
        self.shops = shops
        (folder / "landing" / "shops").mkdir(parents=True)
        shops.to_parquet(folder / "landing" / "shops" / "shops.parquet")

    def land(self, number: int) -> None:
        for index, day in enumerate(DAYS):
            rows = pd.DataFrame(
                {
                    "id": [number * 10 + each for each in range(4)],
                    "shop": list("abca")[index:] + ["a"] * index,
                }
            ).assign(amount=lambda found: found["id"] * 3 % 7)
            target = self.folder / "landing" / "sales" / f"day={day}"
            target.mkdir(parents=True, exist_ok=True)
            rows.to_parquet(target / f"{number}.parquet")
            self.landed = pd.concat([self.landed, rows.assign(day=day)])

    def run(
        self,
        commit: str,
        queries: dict[str, str],
        write: WriteMode = "overwrite_partitions",
        *,
        incremental: bool = False,
        **args: object,
    ) -> None:
        keys = ("day", "id") if write == "merge" else ()
        outputs = [
            Dataset(name=name, partitions=DAILY, format=self.kind, write=write, merge_keys=keys)
            for name in queries
        ]
        reads = ("sales", "feeds/shops")
        run_program(
            self.spark,
            self.warehouse,
            self.store,
            app=self.app,
            program=Program(
                name="p",
                sql=tuple(
                    SqlQuery(output=name, file=f"{name}.sql", text=text) for name, text in queries.items()
                ),
                reads=reads,
                writes=tuple(queries),
                incremental={"sales": True} if incremental else {},
            ),
            datasets={"sales": SALES, "feeds/shops": SHOPS, **{each.name: each for each in outputs}},
            params=Params(partitions=DAYS, args=args, job=commit),
            commit=commit,
        )

    def table(self, name: str) -> pd.DataFrame:
        ref = dataset_ref(self.app, Dataset(name=name, partitions=DAILY, format=self.kind))
        frame = read_selected(self.spark, ref, self.warehouse, lambda key: True, ())
        assert frame is not None
        return frame.toPandas()


@pytest.fixture(params=only(["parquet", "iceberg"], "iceberg"))
def shop(request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession) -> Shop:
    return Shop(tmp_path, spark, request.param)


def dies(monkeypatch: pytest.MonkeyPatch, call: Callable[[], None]) -> None:
    """A run that promises its commit and dies before the first step."""
    with monkeypatch.context() as patch:
        patch.setattr(publishing, "finish", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            call()


def same(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    columns = sorted(wanted.columns)
    frames = [
        frame[columns].astype(str).sort_values(columns).reset_index(drop=True) for frame in (found, wanted)
    ]
    pd.testing.assert_frame_equal(*frames)


def test_two_outputs_are_those_of_pandas_and_survive_a_crash(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    queries = {"totals": TOTALS, "best": BEST}
    for number in range(3):
        shop.land(number)

    def run() -> None:
        shop.run("c1", queries, least=2, towns=["Kiel", "Jena"])

    dies(monkeypatch, run)
    run()
    run()
    sales = shop.landed.merge(shop.shops, on="shop")
    sales = sales[(sales["amount"] >= 2) & sales["town"].isin(["Kiel", "Jena"])]
    totals = sales.groupby(["day", "shop", "town"], as_index=False).agg(
        amount=("amount", "sum"), n=("amount", "count")
    )
    same(shop.table("totals"), totals)
    same(shop.table("best"), totals.groupby("day", as_index=False)["amount"].max())


@pytest.mark.parametrize("write", ["append", "merge"])
def test_an_incremental_query_takes_each_row_once(
    shop: Shop, write: WriteMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = {"copied": "SELECT day, id, amount, town FROM Sales LEFT JOIN `feeds/shops` USING (shop)"}
    for number in range(2):
        shop.land(number)
        dies(monkeypatch, lambda n=number: shop.run(f"c{n}", query, write, incremental=True))
        shop.land(number + 10)
        shop.run(f"d{number}", query, write, incremental=True)
    wanted = shop.landed.merge(shop.shops, on="shop", how="left").drop(columns="shop")
    same(shop.table("copied"), wanted)


def test_a_refused_query_stages_nothing(shop: Shop) -> None:
    shop.land(1)
    with pytest.raises(ProgramError, match=r"totals.sql:1:15: a table has a name of one part"):
        shop.run("c1", {"totals": "SELECT * FROM parquet.`/etc`"})
    with pytest.raises(ProgramError, match=r"best.sql:1:8: Spark refuses the query"):
        shop.run("c2", {"totals": TOTALS, "best": "SELECT dya FROM totals"}, least=1, towns=["Kiel"])
    assert not [file for file in (shop.folder / "warehouse").rglob("*") if file.is_file()]
    assert shop.store.list_unfinished() == ()

"""The same queries on real Spark: right ones run, and wrong ones are refused although lint was passed by."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.sql.queries import ARGS, RIGHT, WRONG, File
from tidegate.domain.model import DeclaredColumn, Program, SqlQuery
from tidegate.domain.sql.query import Query
from tidegate.spark_jobs.datasets.declared_columns import declared_schema
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.java.jvm import is_before_4
from tidegate.spark_jobs.programs import sql_program
from tidegate.spark_jobs.programs.own_session import frame_in, program_session
from tidegate.spark_jobs.programs.params import Params
from tidegate.spark_jobs.programs.sql_program import run_queries

pytestmark = pytest.mark.spark

PARAMS = Params(
    args=ARGS, partitions=("2026-01-01",), now=datetime(2026, 1, 2, 3, tzinfo=UTC), job="j1", key="2026-01-01"
)
ROWS = [("2026-01-01", "north", 3, [1, 2]), ("2026-01-01", "south", 1, [3]), ("2026-01-02", "north", 2, [])]


@pytest.fixture(scope="module")
def tables(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, DataFrame]:
    """The inputs as a run has them: frames of the session of the process, read from files."""
    folder = tmp_path_factory.mktemp("tables")
    sales = spark.createDataFrame(ROWS, "day string, shop string, amount int, parts array<int>")
    shops = spark.createDataFrame([("north", "Kiel"), ("south", "Ulm")], "shop string, town string")
    found: dict[str, DataFrame] = {}
    for name, frame in (("sales", sales), ("feeds/shops", shops)):
        frame.write.parquet(str(folder / name))
        found[name] = spark.read.parquet(str(folder / name))
    return found


@pytest.fixture
def own(spark: SparkSession) -> Iterator[SparkSession]:
    with program_session(spark) as session:
        yield session


def rows_of(own: SparkSession, tables: dict[str, DataFrame], text: str, params: Params = PARAMS) -> DataFrame:
    program = Program(
        name="totals",
        sql=(SqlQuery(output="totals", file="programs/totals.sql", text=text),),
        reads=tuple(tables),
        writes=("totals",),
    )
    return run_queries(own, program, {n: frame_in(own, frame) for n, frame in tables.items()}, params)[
        "totals"
    ]


@pytest.mark.parametrize("file", RIGHT, ids=lambda file: file.text[:40])
def test_a_right_query_runs(own: SparkSession, tables: dict[str, DataFrame], file: File) -> None:
    rows_of(own, tables, file.text).collect()


@pytest.mark.parametrize("file", WRONG, ids=lambda file: f"{file.code} {file.text[:40]}")
def test_a_wrong_query_is_refused_before_spark_sees_it(
    own: SparkSession, tables: dict[str, DataFrame], file: File
) -> None:
    with pytest.raises(ProgramError) as refused:
        rows_of(own, tables, file.text)
    line, column = file.place
    assert str(refused.value).startswith(f"programs/totals.sql:{line}:{column}: ")
    assert refused.value.hint


HARMLESS = ("IDENTIFIER", "(:", "sql_keywords", "\\\n", *(() if is_before_4() else ("system.builtin",)))
"""What Spark need not refuse: what IDENTIFIER names is looked at in the plan, a list in IN is compared as a
whole, `sql_keywords` makes rows of its own, and a backslash that ends a comment makes the next line one.
Spark 4 knows its own functions by a long name too."""

SEEN_BY_SPARK = [
    file
    for file in WRONG
    if file.code in ("Q103", "Q104", "Q109") and not any(each in file.text for each in HARMLESS)
]


@pytest.mark.parametrize("file", SEEN_BY_SPARK, ids=lambda file: f"{file.code} {file.text[:40]}")
def test_what_the_judge_would_miss_spark_refuses_without_doing_it(
    own: SparkSession,
    tables: dict[str, DataFrame],
    file: File,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sql_program, "read_query", lambda text: Query())
    # Spark 4 has it on.
    own.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(ProgramError, match=r"programs/totals.sql"):
        rows_of(own, tables, file.text)
    assert own.conf.get("spark.sql.ansi.enabled") == "false"
    views = {view.viewName for view in own.sql("SHOW VIEWS").collect() if view.isTemporary}
    assert views == {"feeds/shops", "sales"}


def test_a_table_of_the_session_that_is_no_input_is_refused_by_the_plan(
    own: SparkSession, tables: dict[str, DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql_program, "read_query", lambda text: Query())
    own.createDataFrame([(1,)], "id int").rdd.toDF().createOrReplaceTempView("secret")
    with pytest.raises(ProgramError, match="a query reads its inputs alone"):
        rows_of(own, tables, "SELECT shop FROM sales WHERE amount = (SELECT max(id) FROM secret)")
    with pytest.raises(ProgramError, match="a query reads its inputs alone"):
        rows_of(own, tables, "WITH a AS (SELECT * FROM secret) SELECT * FROM sales JOIN a ON true")


def test_values_are_bound_and_never_pasted(own: SparkSession, tables: dict[str, DataFrame]) -> None:
    hostile = "'; DROP VIEW sales; --"
    params = Params(
        args={"who": hostile, "days": [], "n": [1, 2**40], "x": [1.5, 2], "ok": [True], "none": None},
        key="a' OR '1'='1",
        schedule="shop/`x`",
    )
    text = (
        "SELECT :who AS who, :key AS key, :schedule AS schedule, :days AS days, :n AS n, :x AS x, :ok AS ok,"
        " :none AS none, :scheduled_time AS due, array_contains(:n, 1) AS has"
    )
    (row,) = rows_of(own, tables, text, params).collect()
    assert row.asDict() == {
        "who": hostile,
        "key": "a' OR '1'='1",
        "schedule": "shop/`x`",
        "days": [],
        "n": [1, 2**40],
        "x": [1.5, 2.0],
        "ok": [True],
        "none": None,
        "due": None,
        "has": True,
    }
    assert dict(rows_of(own, tables, text, params).dtypes)["due"] == "timestamp"


@pytest.mark.parametrize("value", [{"a": 1}, [[1]], [{"a": 1}], [1, "a"], [1, None]])
def test_what_cannot_be_bound_fails_the_run(
    own: SparkSession, tables: dict[str, DataFrame], value: object
) -> None:
    with pytest.raises(ProgramError, match="which cannot be bound"):
        rows_of(own, tables, "SELECT :v AS v", Params(args={"v": value}))


def test_what_only_spark_refuses_names_the_file_and_the_line(
    own: SparkSession, tables: dict[str, DataFrame]
) -> None:
    with pytest.raises(
        ProgramError, match=r"programs/totals.sql:2:8: Spark refuses the query: \[UNRES.*amuont"
    ):
        rows_of(own, tables, "SELECT shop,\n       amuont FROM sales")
    with pytest.raises(ProgramError, match=r"programs/totals.sql:1:\d+: Spark refuses the query: \[PARSE"):
        rows_of(own, tables, "SELECT shop FROM sales FETCH FIRST 1 ROWS ONLY")


def test_an_input_that_never_had_data_fails_the_run_with_its_name(own: SparkSession) -> None:
    query = SqlQuery(output="totals", file="t.sql", text="SELECT 1")
    program = Program(name="totals", sql=(query,), reads=("feeds/shops",), writes=("totals",))
    with pytest.raises(ProgramError, match="reads `feeds/shops`, which never had any data"):
        run_queries(own, program, {"feeds/shops": None}, PARAMS)


def test_an_input_with_declared_columns_that_never_had_data_has_no_rows(own: SparkSession) -> None:
    query = SqlQuery(output="totals", file="t.sql", text="SELECT s.id, upper(tag) AS tag FROM shops s")
    program = Program(name="totals", sql=(query,), reads=("shops",), writes=("totals",))
    columns = declared_schema(
        (DeclaredColumn(name="id", type="bigint"), DeclaredColumn(name="tag", type="string"))
    )
    found = run_queries(own, program, {"shops": None}, PARAMS, {"shops": columns})
    assert found["totals"].dtypes == [("id", "bigint"), ("tag", "string")]
    assert found["totals"].collect() == []

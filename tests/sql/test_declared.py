"""The declared columns of what a Python program writes are known to the lineage of queries that read it."""

import pytest

from tidegate.domain.model import (
    App,
    Dataset,
    DeclaredColumn,
    OnNewColumn,
    PartitionScheme,
    Program,
    SqlQuery,
    StaticDimension,
)
from tidegate.domain.sql.column import Source
from tidegate.domain.sql.lineage import Lineage

BY_SHOP = PartitionScheme(static=StaticDimension(name="shop", keys=("a", "b")))


def lineage(on_new_column: OnNewColumn, query: str) -> dict[str, tuple[Source, ...]]:
    """The columns of what a query makes of `base`, which Python writes, and of landed files."""
    columns = (DeclaredColumn(name="id", type="bigint"), DeclaredColumn(name="price", type="int"))
    base = Dataset(name="base", columns=columns, on_new_column=on_new_column, partitions=BY_SHOP)
    landed = Dataset(name="landed", path="landing/x", columns=columns)
    programs = {
        "make": Program(name="make", run="a.b", writes=("base",)),
        "sum": Program(
            name="sum",
            sql=(SqlQuery(output="sums", file="s.sql", text=query),),
            reads=("base", "landed"),
            writes=("sums",),
        ),
    }
    datasets = {"base": base, "landed": landed, "sums": Dataset(name="sums")}
    app = App(name="app", timezone="UTC", datasets=datasets, programs=programs)
    (writer,) = Lineage({"app": app}).writers("app/sums")
    return {each.name: each.sources for each in writer.columns or ()}


def source(column: str, dataset: str = "app/base") -> tuple[Source, ...]:
    return (Source(dataset=dataset, column=column),)


def test_a_star_is_the_declared_columns_with_the_partition_columns() -> None:
    found = lineage("refuse", "SELECT * FROM base")
    assert found == {name: source(name) for name in ("id", "price", "shop")}


@pytest.mark.parametrize(("name", "dataset"), [("price", "app/base"), ("weight", "app/landed")])
def test_a_name_without_a_table_is_of_the_table_that_declares_it_or_of_the_other_one(
    name: str, dataset: str
) -> None:
    found = lineage("refuse", f"SELECT {name} FROM base JOIN landed ON base.id = landed.id")
    assert found == {name: source(name, dataset)}


def test_where_columns_may_be_added_none_is_known() -> None:
    assert lineage("add", "SELECT * FROM base") == {"*": source("*")}

"""Where the columns of queries come from: what is known is exact, and what is not is said."""

import pytest

from tests.sql.queries import RIGHT
from tidegate.domain.sql.column import Source
from tidegate.domain.sql.columns import columns_of

TABLES = (
    ("sales", None),
    ("feeds/shops", None),
    ("days", ("day", "Holiday")),
    ("towns", ("town", "land", "day")),
)
"""Of the first two nothing is known."""

ROWS = [
    # names, expressions, text and parameters
    ("SELECT shop, sum(amount) AS total FROM sales GROUP BY shop", "shop<-sales.shop total<-sales.amount"),
    ("SELECT SHOP, Sales.Amount AS Sum FROM SALES", "SHOP<-sales.SHOP Sum<-sales.Amount"),
    ("SELECT holiday FROM Days", "holiday<-days.Holiday"),
    ("SELECT 1 AS one, :who AS who, count(*) AS n FROM sales", "one<- who<- n<-"),
    ("SELECT upper(shop), a + b AS c FROM sales", "<-sales.shop c<-sales.a,sales.b"),
    ("SELECT shop, SHOP AS again, concat(shop, Shop) AS twice FROM sales",
     "shop<-sales.shop again<-sales.SHOP twice<-sales.shop"),
    ("SELECT s.money.cents AS c, money.cents FROM sales s", "c<-sales.money cents<-sales.money"),
    ("VALUES (1, 'a')", "col1<- col2<-"),
    ("SELECT * FROM VALUES (1, 2) AS t(a, b)", "a<- b<-"),
    # several tables
    ("SELECT s.amount, f.town FROM sales s JOIN `feeds/shops` f ON s.shop = f.shop",
     "amount<-sales.amount town<-feeds/shops.town"),
    ("SELECT amount FROM sales s JOIN `feeds/shops` f ON s.shop = f.shop", "amount<-sales.?,feeds/shops.?"),
    ("SELECT amount, holiday FROM sales s JOIN days d ON s.day = d.day",
     "amount<-sales.amount holiday<-days.Holiday"),
    ("SELECT shop FROM sales JOIN `feeds/shops` USING (shop)", "shop<-sales.shop,feeds/shops.shop"),
    ("SELECT shop FROM sales LEFT SEMI JOIN `feeds/shops` USING (shop)", "shop<-sales.shop"),
    ("SELECT a.shop, b.shop AS other FROM sales a CROSS JOIN sales b", "shop<-sales.shop other<-sales.shop"),
    # stars
    ("SELECT * FROM sales", "*<-sales.*"),
    ("TABLE sales", "*<-sales.*"),
    ("SELECT s.*, town FROM sales s JOIN towns t ON t.day = s.day", "*<-sales.* town<-towns.town"),
    ("SELECT * FROM days", "day<-days.day Holiday<-days.Holiday"),
    ("SELECT * FROM days JOIN towns USING (day)",
     "day<-days.day Holiday<-days.Holiday town<-towns.town land<-towns.land"),
    ("SELECT * FROM days NATURAL JOIN towns",
     "day<-days.day Holiday<-days.Holiday town<-towns.town land<-towns.land"),
    ("SELECT * FROM days LEFT ANTI JOIN sales USING (day)", "day<-days.day Holiday<-days.Holiday"),
    ("SELECT d.shop FROM (SELECT *, 1 AS one FROM sales) d", "shop<-sales.shop"),
    ("SELECT one FROM (SELECT *, 1 AS one FROM sales) d", "one<-"),
    ("SELECT struct(s.*) AS all FROM sales s", "all<-sales.?"),
    # queries within
    ("WITH a AS (FROM sales WHERE amount > :least), b AS (FROM a) SELECT shop FROM b", "shop<-sales.shop"),
    ("WITH t(a, b) AS (SELECT shop, upper(day) FROM sales) SELECT b, a FROM t", "b<-sales.day a<-sales.shop"),
    ("SELECT x.a FROM (SELECT amount FROM sales) AS x(a)", "a<-sales.amount"),
    ("SELECT (SELECT max(town) FROM `feeds/shops` f WHERE f.shop = sales.shop) AS m FROM sales",
     "m<-feeds/shops.town"),
    ("SELECT (SELECT max(t.land) FROM towns t WHERE t.day = s.day) AS m, s.shop FROM sales s",
     "m<-towns.land shop<-sales.shop"),
    # an earlier column of the same SELECT, which a column of the table would hide
    ("SELECT upper(day) AS d, concat(d, 'x') AS e FROM days", "d<-days.day e<-days.day"),
    ("SELECT amount AS a, a + 1 AS b FROM sales", "a<-sales.amount b<-sales.?"),
    ("SELECT upper(shop) AS shop, concat(shop, 'x') AS y FROM sales", "shop<-sales.shop y<-sales.shop"),
    # UNION and its kin: by place
    ("SELECT shop FROM sales UNION ALL SELECT town FROM `feeds/shops`", "shop<-sales.shop,feeds/shops.town"),
    ("TABLE days UNION SELECT a, b FROM sales", "day<-days.day,sales.a Holiday<-days.Holiday,sales.b"),
    ("TABLE days UNION TABLE sales", "*<-days.?,sales.?"),
    # functions that make rows
    ("SELECT shop, part FROM sales LATERAL VIEW explode(parts) e AS part",
     "shop<-sales.shop part<-sales.parts"),
    ("SELECT part FROM sales, LATERAL explode(parts) AS t(part)", "part<-sales.parts"),
    ("SELECT posexplode(parts) AS (place, part) FROM sales", "place<-sales.parts part<-sales.parts"),
    ("SELECT filter(parts, p -> p > least) AS f FROM sales", "f<-sales.parts,sales.least"),
    ("SELECT rank() OVER (PARTITION BY day ORDER BY amount) AS r FROM sales", "r<-sales.day,sales.amount"),
    # what the text does not say
    ("SELECT day, north FROM (SELECT day, shop, amount FROM sales) PIVOT (sum(amount) FOR shop IN ('north'))",
     "day<-sales.? north<-sales.?"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "columns"), ROWS, ids=[text[:60] for text, _ in ROWS])
def test_each_column_comes_from_the_columns_that_it_is_computed_of(text: str, columns: str) -> None:
    found = columns_of(text, TABLES)
    assert found is not None
    assert " ".join(f"{c.name}<-{','.join(map(shown, c.sources))}" for c in found) == columns


def shown(source: Source) -> str:
    return f"{source.dataset}.{'?' if source.column is None else source.column}"


@pytest.mark.parametrize("text", [file.text for file in RIGHT], ids=lambda text: text[:40])
def test_no_right_query_is_too_hard_to_follow(text: str) -> None:
    found = columns_of(text, TABLES)
    assert found
    assert {source.dataset for column in found for source in column.sources} <= dict(TABLES).keys()


@pytest.mark.parametrize("text", ["", "SELECT (", "SELECT 1; SELECT 2", f"SELECT {'(' * 3000}1{')' * 3000}"])
def test_what_cannot_be_followed_is_unknown_and_raises_nothing(text: str) -> None:
    assert columns_of(text, TABLES) is None

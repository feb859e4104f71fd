"""Fifty-odd files with queries, right ones and wrong ones, and what lint says of each.

The tables are `sales(day, shop, amount, parts)` and `feeds/shops(shop, town)`; the args are `days` (a list),
`least` (a number) and `who` (a text with a quote).
"""

from typing import NamedTuple

READS = ("sales", "feeds/shops")
ARGS = {"days": ["2026-01-01", "2026-01-02"], "least": 2, "who": "x' OR '1'='1"}


class File(NamedTuple):
    """A file: its text, and the code and the place of what is wrong with it; "" for a right one."""

    text: str
    code: str = ""
    place: tuple[int, int] = (1, 1)


RIGHT = (
    File("SELECT * FROM sales"),
    File("select shop, sum(amount) as amount from SALES group by shop"),
    File("SELECT s.*, f.town FROM sales s JOIN `feeds/shops` f ON f.shop = s.shop"),
    File("FROM sales SELECT shop, amount"),
    File("TABLE sales"),
    File("VALUES (1, 'a'), (2, 'b')"),
    File("(SELECT shop FROM sales) UNION ALL (SELECT shop FROM `FEEDS/SHOPS`)"),
    File("TABLE sales UNION TABLE sales"),
    File("WITH big AS (FROM sales SELECT * WHERE amount > :least), b AS (TABLE big) SELECT shop FROM b"),
    File("SELECT /*+ BROADCAST(f) */ s.shop FROM sales s JOIN `feeds/shops` f USING (shop)"),
    File("SELECT shop, part FROM sales LATERAL VIEW explode(parts) e AS part"),
    File("SELECT part FROM sales, LATERAL explode(parts) AS t(part)"),
    File("SELECT id FROM range(3)"),
    File("SELECT * FROM stack(2, 1, 2)"),
    File("SELECT * FROM sales WHERE array_contains(:days, day)"),
    File("SELECT * FROM sales WHERE shop IN (:who, 'north')"),
    File("SELECT :who AS who, :now AS at, :scheduled_time AS due, :business_date AS day, :attempt AS n"),
    File("SELECT size(:partitions) AS n, :key AS key, :job AS job, :schedule AS schedule"),
    File("SELECT shop, rank() OVER (PARTITION BY day ORDER BY amount DESC) AS place FROM sales"),
    File("SELECT transform(parts, x -> x + 1) AS p, cast(named_struct('a', 1) AS struct<a: int>) FROM sales"),
    File("FROM sales SELECT * WHERE amount = (SELECT max(id) FROM range(9)) OR EXISTS (TABLE `feeds/shops`)"),
    File("SELECT extract(year FROM cast(day AS date)) AS y, trim(BOTH 'x' FROM shop) AS s FROM sales"),
    File("SELECT 'DROP TABLE sales; --' AS text, \"reflect('a')\" AS other -- ; DROP TABLE sales"),
    File("/* one /* in */ another; */ SELECT shop FROM sales; ;"),
    File(
        "SELECT * FROM (SELECT day, shop, amount FROM sales) PIVOT (sum(amount) FOR shop IN ('north', 'x'))"
    ),
    File("SELECT '${env:HOME}' AS home, r'\\' AS slash, 'it''s' AS text FROM sales"),
)

WRONG = (
    File("-- nothing\n", "Q101", (1, 1)),
    File("SELECT (1 FROM sales", "Q102", (1, 11)),
    File("SELECT shop FROM sales WHERE 'open", "Q102", (1, 30)),
    File("SELEC shop FROM sales", "Q102", (1, 1)),
    File("FROM sales WHERE amount > 1", "Q102", (1, 1)),
    File("SELECT * FROM (SELECT 1) JOIN (FROM sales WHERE amount > 1)", "Q102", (1, 32)),
    File("SELECT shop FROM sales; DROP TABLE sales", "Q103", (1, 25)),
    File("SELECT 1 -- a line \\\n; DROP TABLE sales", "Q103", (2, 3)),
    File("SELECT 1;\n  SELECT 2", "Q103", (2, 3)),
    File("DROP VIEW sales", "Q104", (1, 1)),
    File("/* a query */ CREATE TEMP VIEW v AS SELECT 1", "Q104", (1, 15)),
    File("SHOW TABLES", "Q104", (1, 1)),
    File("SET spark.sql.ansi.enabled = true", "Q104", (1, 1)),
    File("CACHE TABLE sales", "Q104", (1, 1)),
    File("EXPLAIN SELECT 1", "Q104", (1, 1)),
    File("INSERT INTO sales SELECT * FROM sales", "Q104", (1, 1)),
    File("WITH a AS (SELECT 1) INSERT INTO sales SELECT * FROM a", "Q104", (1, 22)),
    File("FROM sales INSERT INTO sales SELECT *", "Q104", (1, 12)),
    File("ADD JAR 'x.jar'", "Q104", (1, 1)),
    File("SELECT *\nFROM   saless", "Q105", (2, 8)),
    File("SELECT * FROM shops", "Q105", (1, 15)),
    File("SELECT * FROM sales WHERE shop IN (SELECT shop FROM other)", "Q105", (1, 53)),
    File("WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a", "Q105", (1, 26)),
    File("SELECT * FROM sales WHERE shop = :whom", "Q107", (1, 34)),
    File("SELECT ? FROM sales", "Q107", (1, 8)),
    File("SELECT * FROM sales WHERE day IN (:days)", "Q109", (1, 35)),
    File("SELECT * FROM sales WHERE day IN (:partitions)", "Q109", (1, 35)),
    File("SELECT * FROM parquet.`/etc`", "Q109", (1, 15)),
    File("SELECT * FROM `csv`.`/etc/passwd`", "Q109", (1, 15)),
    File("SELECT * FROM spark_catalog.default.sales", "Q109", (1, 15)),
    File("SELECT * FROM IDENTIFIER(:who)", "Q109", (1, 15)),
    File("SELECT IDENTIFIER('shop') FROM sales", "Q109", (1, 8)),
    File("SELECT java_method('java.lang.System', 'exit', 1)", "Q109", (1, 8)),
    File("SELECT shop, `Reflect`('java.lang.System', 'exit', 1) FROM sales", "Q109", (1, 14)),
    File("SELECT 1 WHERE try_reflect('java.lang.System', 'nanoTime') > 0", "Q109", (1, 16)),
    File("SELECT TRANSFORM(shop) USING 'cat' AS (x) FROM sales", "Q109", (1, 8)),
    File("SELECT * FROM (FROM sales MAP shop USING 'cat' AS x)", "Q109", (1, 27)),
    File("SELECT input_file_name() FROM sales", "Q109", (1, 8)),
    File("SELECT * FROM sql_keywords()", "Q109", (1, 15)),
    File("SELECT system.builtin.abs(1)", "Q109", (1, 8)),
    File("SELECT /*+ REPARTITION(2) */ * FROM\n  json.`/etc/hosts`", "Q109", (2, 3)),
    File("WITH Sales AS (SELECT 1) SELECT * FROM Sales", "Q110", (1, 6)),
    File("SELECT * FROM (WITH `feeds/shops` AS (SELECT 1) TABLE `feeds/shops`)", "Q110", (1, 21)),
)

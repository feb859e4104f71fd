"""`tidegate lineage`: what a dataset or a column comes from, by the store and by the YAML."""

import pytest

from tests.tidegate.project import Project

pytestmark = pytest.mark.slow  # whole commands

FEEDS = """\
app: feeds
datasets:
  raw: {path: landing/raw}
  shops: {}
programs:
  shops: {sql: programs/shops.sql, reads: [raw], writes: [shops]}
"""
TOWNS = """\
app: towns
datasets: {totals: {}, best: {}, copy: {}, report: {}, sums: {}, mixed: {}}
programs:
  totals:
    sql: {totals: programs/totals.sql, best: programs/best.sql}
    reads: [sales/report, feeds/shops]
    writes: [totals, best]
  copy: {sql: programs/copy.sql, reads: [sales/report], writes: [copy]}
  report: {run: programs.make_report, reads: [best, copy], writes: [report]}
  sums: {sql: programs/sums.sql, reads: [report], writes: [sums]}
"""
QUERIES = {
    "shops": "SELECT shop, upper(Town) AS Town FROM raw",
    "totals": "SELECT o.day, s.Town, sum(o.amount) AS total FROM `sales/report` o JOIN `feeds/shops` s "
    "USING (shop) GROUP BY ALL",
    "best": "SELECT * FROM totals WHERE total > 10",
    "copy": "SELECT * FROM `sales/report`",
    "sums": "SELECT sum(total) AS sum, 1 AS one FROM report",
}


@pytest.fixture
def towns(project: Project) -> Project:
    """Three apps: SQL that reads another app's SQL and a dataset of a Python program."""
    (project.folder / "programs").mkdir(exist_ok=True)
    for name, text in QUERIES.items():
        (project.folder / f"programs/{name}.sql").write_text(text)
    project.write("feeds", FEEDS)
    project.write("towns", TOWNS)
    return project


@pytest.fixture
def both(towns: Project, request: pytest.FixtureRequest) -> Project:
    """The project before and after its deployment."""
    if request.param == "deployed":
        towns.run("deploy", "--no-imports")
    return towns


@pytest.mark.parametrize("both", ["yaml", "deployed"], indirect=True)
def test_a_column_is_followed_over_programs_and_apps(both: Project) -> None:
    assert both.run("lineage", "best.town") == (
        "towns/best.Town\n  towns/totals.Town\n    feeds/shops.Town\n      feeds/raw.Town\n"
    )
    assert both.run("lineage", "towns/best.TOTAL") == (
        "towns/best.total\n"
        "  towns/totals.total\n"
        "    sales/report.amount (written by sales/make_report, whose columns are not known)\n"
        "      sales/orders\n"
    )


def test_a_dataset_shows_each_of_its_columns_and_what_is_said_above_only_once(towns: Project) -> None:
    assert towns.run("lineage", "totals").splitlines() == [
        "towns/totals.day",
        "  sales/report.day (written by sales/make_report, whose columns are not known)",
        "    sales/orders",
        "towns/totals.Town",
        "  feeds/shops.Town",
        "    feeds/raw.Town",
        "towns/totals.total",
        "  sales/report.amount (written by sales/make_report, whose columns are not known)",
        "    sales/orders",
    ]


def test_all_columns_of_a_table_are_not_guessed(towns: Project) -> None:
    assert towns.run("lineage", "copy").splitlines() == [
        "towns/copy, all columns",
        "  sales/report, all columns (written by sales/make_report, whose columns are not known)",
        "    sales/orders",
    ]
    assert towns.run("lineage", "copy.amount").splitlines()[1] == (
        "  sales/report.amount (written by sales/make_report, whose columns are not known)"
    )


def test_a_column_without_a_name_is_part_of_the_dataset(towns: Project) -> None:
    (towns.folder / "programs/sums.sql").write_text("SELECT sum(total) FROM report")
    assert towns.run("lineage", "sums").splitlines()[:2] == [
        "towns/sums",
        "  towns/report (written by towns/report, whose columns are not known)",
    ]


def test_of_a_python_program_the_datasets_are_shown_that_it_reads(towns: Project) -> None:
    assert towns.run("lineage", "towns/report").splitlines() == [
        "towns/report (written by towns/report, whose columns are not known)",
        "  towns/best",
        "    towns/totals",
        "      sales/report (written by sales/make_report, whose columns are not known)",
        "        sales/orders",
        "      feeds/shops",
        "        feeds/raw",
        "  towns/copy",
        "    sales/report (written by sales/make_report, whose columns are not known), see above",
    ]
    assert towns.run("lineage", "orders") == "sales/orders\n"


def test_the_steps_are_one_json_document(towns: Project) -> None:
    towns.run("deploy", "--no-imports")
    found = towns.json("lineage", "sums")
    assert (found["source"], found["dataset"], found["column"]) == ("deployed", "towns/sums", None)
    assert found["steps"][0] == {
        "dataset": "towns/sums",
        "column": "sum",
        "programs": ["towns/sums"],
        "known": True,
        "sources": [{"dataset": "towns/report", "column": "total"}],
    }
    assert found["steps"][1]["sources"] == []
    by_name = {(step["dataset"], step["column"]): step for step in found["steps"]}
    assert not by_name["towns/report", "total"]["known"]
    assert by_name["towns/report", "total"]["sources"][0] == {"dataset": "towns/best", "column": None}
    assert by_name["feeds/raw", None] == {
        "dataset": "feeds/raw",
        "column": None,
        "programs": [],
        "known": True,
        "sources": [],
    }


def test_it_is_the_deployed_text_that_counts(towns: Project) -> None:
    towns.run("deploy", "--no-imports")
    (towns.folder / "programs/shops.sql").write_text("SELECT shop, other AS Town FROM raw")
    assert towns.run("lineage", "shops.town") == "feeds/shops.Town\n  feeds/raw.Town\n"


def test_unknown_names_are_answered_with_the_nearest(towns: Project) -> None:
    for arguments, message, hint in (
        (["totls"], 'there is no dataset "totls"', 'did you mean "totals"?'),
        (["towns/totls.day"], 'there is no dataset "towns/totls"', 'did you mean "towns/totals"?'),
        (["totals.twon"], 'dataset towns/totals has no column "twon"', 'did you mean "Town"?'),
        (["report"], 'several apps have a dataset "report"', "write one of sales/report, towns/report"),
        (["report", "--app", "town"], 'there is no app "town"', 'did you mean "towns"?'),
    ):
        error = towns.refused("lineage", *arguments)
        assert (error.message, error.hint) == (message, hint)
    assert towns.run("lineage", "report", "--app", "sales").startswith("sales/report (written by")


def test_wrong_yaml_is_reported_as_by_lint(towns: Project) -> None:
    towns.write("towns", TOWNS.replace("run:", "rnu:"))
    assert "schedules/towns.yaml:9" in towns.run_with_errors("lineage", "totals", exit_code=1)

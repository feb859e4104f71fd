"""Namespaces: `ns/app/name` where `app/name` is taken, the owner of a name, and what the store keeps."""

from datetime import UTC, datetime

import pytest

from tests.tidegate.project import Project
from tidegate.scheduler.model.deployed import APPS

pytestmark = pytest.mark.slow  # whole commands

FEEDS = """\
app: feeds
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}, path: landing/feeds}
"""
READS_FEEDS = """\
app: reports
datasets:
  report: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  make: {run: programs.make, reads: [NAME], writes: [report]}
schedules:
  each_day:
    program: make
    for_each: day
    trigger: {partitions: {dataset: NAME}}
    status: active
"""


def in_project(project: Project, name: str, namespace: str) -> None:
    """Deploy from now on as another project, in another namespace."""
    settings = project.folder / "tidegate.toml"
    settings.write_text(
        f'[project]\nname = "{name}"\nnamespace = "{namespace}"\n[warehouse]\ndefault_format = "parquet"\n'
    )


def only(project: Project, name: str, text: str) -> None:
    """Let the project have one app."""
    for file in (project.folder / "schedules").glob("*.yaml"):
        file.unlink()
    project.write(name, text)


@pytest.fixture
def two(project: Project) -> Project:
    """Feeds are deployed by a project of the namespace `lake`; the project now is of `analytics`."""
    in_project(project, "landing", "lake")
    only(project, "feeds", FEEDS)
    project.run("deploy")
    in_project(project, "insight", "analytics")
    return project


def namespaces(project: Project) -> dict[str, str]:
    store = project.store()
    with store.reading() as reader:
        found = {each.name: each.namespace for each in reader.records(APPS)}
    store.close()
    return found


def test_a_part_of_another_namespace_is_named_with_it(two: Project) -> None:
    only(two, "reports", READS_FEEDS.replace("NAME", "lake/feeds/raw"))
    two.run("deploy")
    assert namespaces(two) == {"feeds": "lake", "reports": "analytics"}
    store = two.store()
    with store.reading() as reader:
        (state,) = reader.schedules(refs=["reports/each_day"])
        (app,) = reader.records(APPS, name=["reports"])
    store.close()
    assert app.app.programs["make"].reads == ("feeds/raw",)
    assert state.spec.written["trigger"] == {"partitions": {"dataset": "lake/feeds/raw"}}
    assert two.run("plan") == two.run("plan")  # nothing changes
    only(two, "reports", READS_FEEDS.replace("NAME", "feeds/raw"))
    assert "no changes" in two.run("plan").lower()


def test_a_wrong_namespace_is_reported_with_the_right_one(two: Project) -> None:
    only(two, "reports", READS_FEEDS.replace("NAME", "analytics/feeds/raw"))
    printed = two.run_with_errors("lint", exit_code=1)
    assert "N320" in printed
    assert 'the app feeds is in the namespace "lake", got "analytics/feeds/raw"' in printed
    assert "write lake/feeds/raw, or feeds/raw" in printed


def test_a_name_that_another_namespace_owns_is_refused_with_both(two: Project) -> None:
    only(two, "feeds", FEEDS)
    refused = two.refused("deploy")
    assert 'app feeds belongs to project "landing" of the namespace "lake"' in refused.message
    assert namespaces(two) == {"feeds": "lake"}


def test_a_project_that_moves_takes_its_apps_along(two: Project) -> None:
    in_project(two, "landing", "lakehouse")
    only(two, "feeds", FEEDS)
    two.run("deploy")
    assert namespaces(two) == {"feeds": "lakehouse"}


@pytest.mark.parametrize(
    "command",
    [
        ("why", "default/sales/report_daily"),
        ("schedules", "show", "default/sales/report_daily"),
        ("schedules", "suspend", "default/sales/report_daily"),
        ("overrides", "show", "default/sales/report_daily"),
        ("jobs", "list", "--schedule", "default/sales/report_daily"),
        ("run", "default/sales/make_report", "--key", "2026-03-09", "--dry-run"),
        ("report", "default/sales/orders", "--key", "2026-03-09", "--anyway"),
    ],
    ids=lambda command: command[0],
)
def test_commands_take_a_name_with_its_namespace(deployed: Project, command: tuple[str, ...]) -> None:
    deployed.run("schedules", "suspend", "report_daily")
    (deployed.folder / "programs").mkdir()
    (deployed.folder / "programs/make_report.py").write_text("def run(spark, inputs, params): ...\n")
    deployed.run(*command)
    wrong = deployed.refused(*(word.replace("default/", "lake/") for word in command))
    assert 'app sales is in the namespace "default", not in "lake"' in wrong.message
    assert "write default/sales/" in wrong.hint


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "--app", "default/sales"),
        ("deploy", "--app", "default/sales"),
        ("schedules", "list", "--app", "default/sales"),
        ("ledger", "--app", "default/sales"),
        ("overrides", "list", "--app", "default/sales"),
        ("late", "--app", "default/sales"),
        ("alerts", "list", "--app", "default/sales"),
        ("tasks", "list", "--app", "default/sales"),
        ("instances", "list", "--app", "default/sales"),
        ("apps", "hold", "default/sales"),
    ],
    ids=lambda command: "-".join(command[:2]),
)
def test_an_app_is_named_with_its_namespace(deployed: Project, command: tuple[str, ...]) -> None:
    deployed.run(*command)
    wrong = deployed.refused(*(word.replace("default/", "lake/") for word in command))
    assert 'in the namespace "default"' in wrong.message
    assert "write default/sales, or sales" in wrong.hint


def test_an_app_on_hold_is_named_with_its_namespace(deployed: Project) -> None:
    deployed.run("apps", "hold", "default/sales")
    assert "sales" in deployed.run("overrides", "show", "default/sales")
    assert "sales is released" in deployed.run("apps", "release", "default/sales")


def test_a_new_schedule_is_named_with_its_namespace(deployed: Project) -> None:
    given = ("--set", "program=make_report", "--set", "trigger={cron: '@daily'}")
    assert "sales/extra" in deployed.run("schedules", "create", "default/sales/extra", *given)
    assert 'not in "lake"' in deployed.refused("schedules", "create", "lake/sales/other", *given).message
    wrong = deployed.refused("schedules", "create", "extra", *given)
    assert "a new schedule is named app/schedule or ns/app/schedule" in wrong.message


def test_a_token_takes_the_namespace_from_the_name_of_its_app(deployed: Project) -> None:
    create = ("token", "create", "x", "--role", "read", "--app", "lake/sales")
    assert "(read, app sales of namespace lake)" in deployed.run(*create)
    wrong = deployed.refused(*create, "--namespace", "default")
    assert wrong.message == "--app lake/sales and --namespace default name two namespaces"


def test_the_past_knows_the_namespaces_of_now(two: Project) -> None:
    only(two, "reports", READS_FEEDS.replace("NAME", "lake/feeds/raw"))
    two.run("deploy")
    at = datetime.now(UTC).isoformat()
    assert "each_day" in two.run("why", "analytics/reports/each_day", "--at", at)
    wrong = two.refused("why", "lake/reports/each_day", "--at", at)
    assert 'in the namespace "analytics"' in wrong.message


def test_the_past_knows_the_namespace_of_an_app_that_is_gone(two: Project) -> None:
    only(two, "reports", READS_FEEDS.replace("NAME", "lake/feeds/raw"))
    two.run("deploy")
    at = datetime.now(UTC).isoformat()
    only(two, "others", "app: others\n")
    two.run("deploy", "--remove-apps", "--yes")
    assert "each_day" in two.run("why", "analytics/reports/each_day", "--at", at)


def test_an_unknown_app_of_a_namespace_is_unknown(deployed: Project) -> None:
    assert "is not deployed" in deployed.refused("why", "lake/none/report_daily").message


def test_a_token_for_a_namespace_says_so(deployed: Project) -> None:
    printed = deployed.run("token", "create", "x", "--role", "read", "--namespace", "lake")
    assert "token x (read, all apps of namespace lake)" in printed
    assert deployed.json("token", "list")[0]["namespace"] == "lake"
    refused = deployed.refused("token", "create", "y", "--role", "read", "--namespace", "La ke")
    assert "no namespace has the name" in refused.message

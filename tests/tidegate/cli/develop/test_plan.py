"""`tidegate plan` and `tidegate deploy`: what changes, what is printed, and the exit codes."""

from pathlib import Path

import pytest

from tests.tidegate.project import Project, sales_as
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader

pytestmark = pytest.mark.slow  # whole commands


def refs(project: Project) -> list[str]:
    store = project.store()
    with store.reading() as reader:
        found = [state.ref for state in reader.schedules()]
    store.close()
    return found


def journal_kinds(reader: EngineReader) -> list[str]:
    return [entry.kind.value for entry in reader.journal()]


def test_a_plan_of_a_new_project_shows_everything_as_new_and_makes_no_store(project: Project) -> None:
    printed = project.run("plan", exit_code=2)
    assert "+ app sales" in printed
    assert "+ schedule report_daily\n      -> starts active" in printed
    assert "+ schedule report_by_day\n      -> starts suspended" in printed
    assert not (project.folder / ".tidegate").exists()


def test_what_is_not_to_be_deployed_is_checked_and_stays_where_it_is(project: Project) -> None:
    (project.folder / "tidegate.toml").write_text('[project]\nundeployed = ["schedules/drafts"]\n')
    (project.folder / "schedules/drafts").mkdir()
    project.write("drafts/next_sales", sales_as("next_sales"))
    assert project.run("lint").startswith("ok: 2 apps")
    assert "next_sales" not in project.run("plan", exit_code=2)
    project.run("deploy")
    assert refs(project) == ["sales/report_at_six", "sales/report_by_day", "sales/report_daily"]


def test_the_text_of_a_query_is_deployed_and_its_change_is_shown(project: Project) -> None:
    (project.folder / "programs").mkdir(exist_ok=True)
    query = project.folder / "programs/totals.sql"
    query.write_text("SELECT shop,\n  amount\nFROM raw\n")
    program = "totals: {sql: programs/totals.sql, reads: [raw], writes: [totals]}"
    project.write("shop", f"app: shop\ndatasets: {{raw: {{}}, totals: {{}}}}\nprograms: {{{program}}}\n")
    project.run("deploy")
    query.write_text("SELECT shop,\n  2 * amount AS amount\nFROM raw\n")

    printed = project.run("plan", exit_code=2)

    assert "-   amount\n        +   2 * amount AS amount\n" in printed
    store = project.store()
    with store.reading() as reader:
        (deployed,) = [each.app for each in reader.records(APPS) if each.app.name == "shop"]
    store.close()
    assert deployed.programs["totals"].sql[0].text == "SELECT shop,\n  amount\nFROM raw\n"
    query.write_text("SELECT * FROM rww")
    assert "totals.sql:1:15: error[Q105]" in project.run_with_errors("plan", exit_code=1)


def test_a_plan_shows_tasks_as_yaml_and_what_was_detected(project: Project) -> None:
    feed = "feed: {type: source, dataset: raw, cycle: hour}"
    clean = "clean: {program: clean, cycle: day, at: {time: '02:00'}}"
    parts = "datasets: {raw: {}}\nprograms: {clean: {run: sales.clean, reads: [raw]}}"
    shop = f"app: shop\n{parts}\ntasks:\n  {feed}\n  {clean}\n"
    project.write("shop", shop)
    printed = project.run("plan", "--no-imports", exit_code=2)
    assert printed.startswith("shop/clean waits for feed (detected)\n")
    assert "  + task clean\n      tasks:\n        clean:\n          program: clean\n" in printed
    assert "depends_on: [feed]" in printed
    assert "Tasks: 2 to create." in printed
    assert "36500" not in printed
    found = project.json("plan", "--no-imports", exit_code=2)
    assert found["detected"] == [{"task": "shop/clean", "upstream": ["feed"]}]
    project.run("deploy", "--no-imports")
    project.write("shop", shop.replace("02:00", "03:00"))
    assert '~ task clean\n      at.time: "02:00" -> "03:00"\n' in project.run(
        "plan", "--no-imports", exit_code=2
    )


def test_a_plan_right_after_a_deploy_is_empty(project: Project) -> None:
    assert "+ app sales" in project.run("deploy")
    assert refs(project) == ["sales/report_at_six", "sales/report_by_day", "sales/report_daily"]
    assert project.run("plan").startswith("No changes.")
    assert project.json("plan")["empty"] is True


def test_a_second_deploy_changes_nothing(deployed: Project) -> None:
    store = deployed.store()
    with store.reading() as reader:
        before = reader.records(APPS), reader.schedules()
    assert deployed.run("deploy").startswith("No changes.")
    with store.reading() as reader:
        assert (reader.records(APPS), reader.schedules()) == before
    store.close()


def test_a_change_waits_with_exit_code_2_and_says_what_becomes_of_waiting_jobs(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    deployed.edit("count: 2", "count: 3")
    printed = deployed.run("plan", exit_code=2)
    assert "~ schedule report_daily" in printed
    assert "trigger.count: 2 -> 3" in printed
    assert "-> 1 waiting job is discarded with D-UPDATED" in printed
    assert deployed.run("deploy") == printed
    assert deployed.run("plan").startswith("No changes.")
    assert "D-UPDATED" in deployed.run("jobs", "list", "--all")


def test_a_plan_as_json_has_the_changes(deployed: Project) -> None:
    deployed.edit("count: 2", "count: 3")
    found = deployed.json("plan", exit_code=2)
    assert found["empty"] is False
    changed = [s for app in found["apps"] for s in app["schedules"] if s["action"] == "replace"]
    assert [s["name"] for s in changed] == ["report_daily"]


def test_a_plan_shows_the_stages_in_the_order_in_which_deploy_runs_them(deployed: Project) -> None:
    order = ["rename", "policies", "schedules", "events", "journal"]
    assert "order:" not in deployed.run("plan")
    deployed.edit("count: 2", "count: 3")
    assert deployed.json("plan", exit_code=2)["stages"] == order
    assert deployed.run("plan", exit_code=2).splitlines()[-1] == f"order: {', '.join(order)}"


def test_a_plan_that_is_refused_has_no_order(deployed: Project) -> None:
    (deployed.folder / "tidegate.toml").write_text('[project]\nname = "another"\n')
    assert "order:" not in deployed.run("plan", exit_code=1)


def test_a_description_moved_lines_and_a_status_reset_nothing(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    deployed.edit("datasets:", "# a comment, which moves every line below it\ndatasets:")
    deployed.edit("status: suspended", "status: active")
    assert deployed.run("plan").startswith("No changes.")
    deployed.edit("    trigger: {cron", "    description: at six\n    trigger: {cron")
    assert "nothing is reset" in deployed.run("plan", exit_code=2)
    deployed.run("deploy")
    assert "PENDING_TRIGGER" in deployed.run("jobs", "list")


def test_without_updating_schedules_stay_as_they_are(deployed: Project) -> None:
    deployed.edit("count: 2", "count: 3")
    assert "= schedule report_daily" in deployed.run("plan", "--no-update-schedules")
    deployed.run("deploy", "--no-update-schedules")
    assert "2 partitions of orders" in deployed.run("schedules", "list")
    assert "trigger.count: 2 -> 3" in deployed.run("plan", exit_code=2)


def test_an_app_that_vanished_from_the_folder_is_deleted(deployed: Project) -> None:
    deployed.write("other", sales_as("other"))
    deployed.run("deploy")
    (deployed.folder / "schedules/sales.yaml").unlink()
    assert "- app sales" in deployed.run("plan", "--remove-apps", exit_code=2)
    deployed.run("deploy", "--remove-apps")
    assert refs(deployed) == ["other/report_at_six", "other/report_by_day", "other/report_daily"]


def test_a_removal_that_would_leave_schedules_without_trigger_is_refused_unless_forced(
    deployed: Project,
) -> None:
    deployed.edit("  orders: {partitions: {cycle: day, start: 2026-01-01}, path: landing/orders}\n", "")
    deployed.edit("reads: [orders], ", "")
    deployed.edit("    trigger: {partitions: {dataset: orders, count: 2}}", "    trigger: {cron: '@daily'}")
    deployed.edit(
        "    for_each: day\n    trigger: {partitions: {dataset: orders}}", "    trigger: {cron: '@daily'}"
    )
    assert "refused: dataset orders of sales" in deployed.run("plan", "--no-update-schedules", exit_code=1)
    error = deployed.refused("deploy", "--no-update-schedules")
    assert "orders" in error.message
    assert "--force" in error.hint
    assert "2 partitions of orders" in deployed.run("schedules", "list")
    deployed.run("deploy", "--no-update-schedules", "--force")


def test_errors_in_the_yaml_stop_plan_and_deploy_with_their_places(deployed: Project) -> None:
    deployed.edit("dataset: orders, count: 2", "dataset: ordres, count: 2")
    for command in ("plan", "deploy"):
        project_output = deployed._result(command)
        assert project_output.exit_code == 1
        assert "schedules/sales.yaml:14:" in project_output.stderr
        assert 'did you mean "orders"?' in project_output.stderr
        assert "Traceback" not in project_output.output
        found = deployed.json(command, exit_code=1)
        assert found["diagnostics"][0]["severity"] == "error"
    assert "2 partitions of orders" in deployed.run("schedules", "list")


def test_a_store_that_cannot_be_used_is_told_with_a_remedy(project: Project) -> None:
    Path(project.folder / "tidegate.toml").write_text('[store]\nurl = "sqlite:///store.db"\n')
    (project.folder / "store.db").write_text("this is not a database" * 100)
    for command in (["plan"], ["deploy"], ["schedules", "list"], ["why", "x"]):
        error = project.refused(*command)
        assert "file is not a database" in error.message
        assert error.hint

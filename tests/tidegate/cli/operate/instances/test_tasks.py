"""`tidegate tasks`, and the other lists of what is deployed, with cycle tasks in them."""

import pytest

from tests.tidegate.project import Project
from tests.tidegate.tasks import DAY, EIGHT, NINE, SHOP, TaskProject, at
from tests.worlds.by import CLI
from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.ownership import Scope
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps

pytestmark = pytest.mark.slow  # whole commands


def test_the_list_has_times_upstream_tasks_and_the_next_instance(tasks: TaskProject) -> None:
    printed = tasks.project.run("tasks", "list")
    assert "source (outside)" in printed
    assert "minute 10, from 08:00, to 10:00" in printed
    assert "clean (detected), self" in printed
    assert "revenue (period before)" in printed
    assert "suspended" in printed
    found = {each["task"]: each for each in tasks.project.json("tasks", "list", "--app", "shop")}
    assert list(found) == ["shop/clean", "shop/feed", "shop/month_end", "shop/revenue"]
    clean = found["shop/clean"]
    assert clean["upstream"] == [{"task": "feed", "select": None, "period": "same", "detected": True}]
    assert clean["at"] == {"minute": 10, "from": "08:00", "to": "10:00"}
    assert clean["next"]["scheduled"][11:] in ("08:00", "09:00", "10:00")
    assert found["shop/feed"]["program"] is None
    assert found["shop/month_end"]["next"]["start"].endswith("12:00:00Z")


def test_without_tasks_it_says_so(deployed: Project) -> None:
    assert deployed.run("tasks", "list") == "No tasks are deployed.\n"
    assert deployed.json("tasks", "list") == []
    assert "not deployed" in deployed.refused("tasks", "list", "--app", "shop").message


def test_a_schedule_is_no_task(deployed: Project) -> None:
    refused = deployed.refused("instances", "list", "report_daily")
    assert refused.message == '"report_daily" is a schedule, and no task'
    assert deployed.refused("instances", "list", "sales/x").message == 'task "sales/x" is not deployed'


def test_lists_of_schedules_and_jobs_cope_with_tasks(tasks: TaskProject) -> None:
    project = tasks.project
    printed = project.run("schedules", "list")
    assert "each hour after feed" in printed
    shown = project.run("schedules", "show", "feed")
    assert "tidegate instances list shop/feed" in shown
    assert '{"from":"08:00","to":"10:00"}' in shown
    assert f"{DAY}-08:00" in project.run("jobs", "list", "--schedule", "feed")
    job = next(each for each in project.json("jobs", "list", "--schedule", "feed") if each["key"] == EIGHT)
    shown = project.run("jobs", "show", job["id"])
    assert f"tidegate instances show shop/feed {EIGHT}" in shown
    assert "No changes" in project.run("plan", "--no-imports")


def test_what_a_task_has_in_another_form_is_refused_with_that_form(tasks: TaskProject) -> None:
    project = tasks.project
    assert "tidegate instances rerun" in project.refused("schedules", "trigger", "clean").hint
    jobs = project.json("jobs", "list", "--schedule", "feed")
    (job,) = [each["id"] for each in jobs if each["key"] == EIGHT]
    for verb, instead in (("cancel", "pause"), ("retry", "rerun")):
        assert project.refused("jobs", verb, job).hint == f"`tidegate instances {instead} shop/feed {EIGHT}`"


def test_suspending_a_task_holds_its_launches(tasks: TaskProject) -> None:
    printed = tasks.project.run("schedules", "suspend", "clean")
    assert "held until resume; new ones are made and held too" in printed
    printed = tasks.project.run("schedules", "resume", "clean")
    assert printed == "shop/clean is active: its instances are launched as they become ready\n"


def test_a_plan_counts_the_instances_that_a_changed_task_makes_again_or_loses(tasks: TaskProject) -> None:
    tasks.project.write(
        "shop",
        SHOP.replace(
            'at: {from: "08:00", to: "10:00"}\n    update', 'at: {from: "08:00", to: "09:00"}\n    update'
        ),
    )
    planned = tasks.project.run("plan", "--no-imports", exit_code=2)
    assert "2 instances are made again" in planned
    assert "1 instance goes: the task has no such time" in planned
    tasks.project.run("deploy", "--no-imports")
    listed = tasks.project.json("instances", "list", "feed", "--day", DAY)
    assert [each["scheduled"] for each in listed] == [EIGHT, NINE]


def test_a_plan_counts_the_instances_that_a_disabled_task_loses(tasks: TaskProject) -> None:
    tasks.project.write("shop", SHOP.replace("    dataset: raw\n", "    dataset: raw\n    enabled: false\n"))
    assert "3 waiting jobs are discarded with D-DELETED" in tasks.project.run(
        "plan", "--no-imports", exit_code=2
    )


def test_a_task_that_others_wait_for_is_deleted_by_force_only(tasks: TaskProject) -> None:
    project = tasks.project
    refused = project.refused("schedules", "delete", "feed")
    assert refused.message == "the deployment would remove task shop/feed, which is upstream of clean"
    assert "or add --force: they then run without it" in refused.hint
    assert "shop/feed" in project.run("tasks", "list")
    assert "shop/feed is deleted" in project.run("schedules", "delete", "feed", "--force")
    assert "shop/feed" not in project.run("tasks", "list")
    # The deployment makes it again.
    assert "+ task feed" in project.run("plan", "--no-imports", exit_code=2)


def test_tasks_are_deleted_together_with_those_who_wait_for_them(tasks: TaskProject) -> None:
    printed = tasks.project.run("schedules", "delete", "month_end", "revenue", "clean")
    assert [line.partition(" ")[0] for line in printed.splitlines()] == [
        "shop/clean",
        "shop/month_end",
        "shop/revenue",
    ]


def test_a_deployment_without_a_task_that_another_project_waits_for_is_refused(tasks: TaskProject) -> None:
    task = "tasks:\n  show: {program: show, cycle: day, depends_on: [shop/revenue]}\n"
    text = f"app: bi\nprograms: {{show: {{run: programs.show}}}}\n{task}"
    with tasks.store.transaction() as transaction:
        known = deployed_apps(transaction)
        compilation = compile_files({"bi.yaml": text.encode()}, known=lambda: known)
        assert compilation.ok, compilation.diagnostics
        deploy(transaction, compilation.models(), at("00:01"), scope=Scope(project="bi"), by=CLI)
    without = SHOP[: SHOP.index("  revenue:\n    program")]
    tasks.project.write("shop", without)
    planned = tasks.project.run("plan", "--no-imports", exit_code=1)
    assert "task revenue of shop is removed, but it is upstream of task bi/show" in planned
    refused = tasks.project.refused("deploy", "--no-imports")
    assert refused.message == "the deployment would remove task shop/revenue, which is upstream of bi/show"
    tasks.project.run("deploy", "--no-imports", "--force")
    assert "shop/revenue" not in tasks.project.run("tasks", "list", "--app", "shop")

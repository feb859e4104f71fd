"""A deployment that removes a task is refused while tasks that stay wait for it (rule 23)."""

from collections.abc import Mapping

import msgspec
import pytest

from tests.compiler.test_other_apps import apps, refusals
from tidegate.compiler.plan.diff import diff
from tidegate.compiler.plan.refusal import Refusal
from tidegate.compiler.render.diff_text import diff_text
from tidegate.domain.model import App

FX = """
app: fx
datasets: {rates: {}}
programs: {load: {run: jobs.load, writes: [rates]}}
tasks:
  gate: {type: external, cycle: hour, dataset: rates}
  load: {program: load, cycle: day, depends_on: [gate]}
"""
SHOP = """
app: shop
programs: {report: {run: jobs.report, reads: [fx/rates]}}
tasks:
  named: {program: report, cycle: day, depends_on: [fx/load, {task: fx/load, period: previous}, self]}
  detected: {program: report, cycle: day}
  alone: {program: report, cycle: day, depends_on: []}
"""
WITHOUT_LOAD = FX[: FX.index("  load: {program: load, cycle")]
LOAD = Refusal(app="fx", section="tasks", name="load", schedules=("shop/named", "shop/detected"))


def without(deployed: Mapping[str, App], *tasks: str) -> dict[str, App]:
    """The app fx after tasks were deleted by hand."""
    fx = deployed["fx"]
    left = {name: schedule for name, schedule in fx.schedules.items() if name not in tasks}
    return {"fx": msgspec.structs.replace(fx, schedules=left)}


@pytest.mark.parametrize("after", [WITHOUT_LOAD, ""], ids=["the task", "its app"])
def test_a_task_for_which_another_app_waits(after: str) -> None:
    both = apps(FX, SHOP)
    left = apps(after) if after else {}
    found = refusals({"fx": both["fx"]}, left, {"shop": both["shop"]})
    gate = () if after else (Refusal(app="fx", section="tasks", name="gate", schedules=("shop/detected",)),)
    assert [each for each in found if each.section == "tasks"] == [*gate, LOAD]


def test_a_task_for_which_its_own_app_waits_goes_only_without_the_others() -> None:
    fx = apps(FX)
    left = without(fx, "gate")
    gate = Refusal(app="fx", section="tasks", name="gate", schedules=("load",))
    assert refusals(fx, left, {}) == [gate]
    assert refusals(fx, without(fx, "gate", "load"), {}) == []
    assert refusals(left, left, {}) == [], "what was forced is not a reason again"


def test_a_task_that_becomes_a_schedule_is_removed_for_those_who_wait_for_it() -> None:
    both = apps(FX, SHOP)
    schedule = WITHOUT_LOAD + 'schedules:\n  load: {program: load, trigger: {cron: "@daily"}}\n'
    found = refusals({"fx": both["fx"]}, apps(schedule), {"shop": both["shop"]})
    assert LOAD in found
    changed = apps(FX.replace("cycle: day", "cycle: week, at: {weekdays: [mon]}"))
    assert refusals({"fx": both["fx"]}, changed, {"shop": both["shop"]}) == []


def test_the_plan_names_those_who_wait_and_what_helps() -> None:
    both = apps(FX, SHOP)
    text = diff_text(diff({"fx": both["fx"]}, apps(WITHOUT_LOAD), others={"shop": both["shop"]}))
    assert (
        "refused: task load of fx is removed, but it is upstream of tasks shop/named, shop/detected" in text
    )
    assert "hint: restore the task, delete or change the tasks that wait for it in the same step" in text
    assert LOAD.summary == "task fx/load, which is upstream of shop/named, shop/detected"

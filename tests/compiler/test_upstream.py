"""The upstream tasks of a task: named and detected ones, over files and the store, and their cycles."""

from collections.abc import Mapping
from typing import Any

import pytest

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.compile_one import compile_task
from tidegate.compiler.plan.renamed_app import renamed_app
from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.render.detected import detected_json, detected_lines, detected_notes
from tidegate.domain.model import App, At
from tidegate.domain.model.others import with_others

FX = """\
app: fx
datasets:
  rates: {}
programs:
  load: {run: j.load, writes: [rates]}
tasks:
  rates: {program: load, cycle: day}
"""
SHOP = """\
app: shop
datasets:
  raw: {}
  orders: {}
  revenue: {}
programs:
  clean: {run: j.clean, reads: [raw, orders], writes: [orders]}
  revenue: {run: j.revenue, reads: [orders, fx/rates], writes: [revenue]}
tasks:
  revenue: {program: revenue, cycle: day}
  clean: {program: clean, cycle: hour}
  feed: {type: source, dataset: raw, cycle: hour}
"""
MENDED = "revenue: {program: revenue, cycle: day, depends_on: {detected: true, %s}}"


def compiled(*texts: str, known: Mapping[str, App] | None = None) -> Compilation:
    files = {f"{number}.yaml": text.encode() for number, text in enumerate(texts)}
    return compile_files(files, known=lambda: known or {})


def apps(*texts: str, known: Mapping[str, App] | None = None) -> dict[str, App]:
    compilation = compiled(*texts, known=known)
    assert compilation.ok, [(d.code, d.summary) for d in compilation.diagnostics]
    return compilation.models()


def upstream(app: App, name: str) -> list[str]:
    """The upstream tasks, with what is special about each."""
    task = app.schedules[name].task
    assert task is not None
    words = [
        (each.task, each.itself and "self", each.select, each.period != "same" and each.period, each.detected)
        for each in task.depends_on
    ]
    return [" ".join(str(word) for word in each if word and word is not True) for each in words]


def is_detected(app: App, name: str) -> list[bool]:
    task = app.schedules[name].task
    assert task is not None
    return [each.detected for each in task.depends_on]


def corrected(text: str) -> str:
    return SHOP.replace("revenue: {program: revenue, cycle: day}", MENDED % text)


@pytest.mark.parametrize("texts", [(FX, SHOP), (SHOP, FX)], ids=["in order", "read first"])
def test_the_tasks_that_write_what_a_program_reads_are_detected_in_all_files(texts: tuple[str, str]) -> None:
    shop = apps(*texts)["shop"]
    assert upstream(shop, "revenue") == ["clean", "fx/rates"]
    assert is_detected(shop, "revenue") == [True, True]


def test_a_source_is_detected_for_its_dataset_and_a_task_never_for_itself() -> None:
    shop = apps(FX, SHOP)["shop"]
    assert upstream(shop, "clean") == ["feed"]
    assert upstream(shop, "feed") == []


def test_a_task_of_the_store_is_detected_unless_its_app_is_in_a_file() -> None:
    deployed = apps(FX)
    assert upstream(apps(SHOP, known=deployed)["shop"], "revenue") == ["clean", "fx/rates"]
    without = FX.replace("tasks:\n  rates: {program: load, cycle: day}\n", "")
    assert upstream(apps(SHOP, without, known=deployed)["shop"], "revenue") == ["clean"]


def test_a_file_that_goes_on_for_an_app_of_the_store_is_detected_once() -> None:
    deployed = apps(FX)
    renamed = FX.replace("app: fx\n", "app: money\nrenamed_from: fx\n")
    shop = apps(SHOP.replace("fx/rates", "money/rates"), renamed, known=deployed)["shop"]
    assert upstream(shop, "revenue") == ["clean", "money/rates"]


def test_a_task_of_another_app_may_be_about_a_dataset_of_this_one() -> None:
    feeds = "app: feeds\ntasks:\n  orders: {type: external, dataset: shop/orders, cycle: hour}\n"
    shop = apps(FX, SHOP, feeds)["shop"]
    assert upstream(shop, "revenue") == ["clean", "feeds/orders", "fx/rates"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("add: [self]", ["clean", "fx/rates", "revenue self"]),
        ("drop: [fx/rates]", ["clean"]),
        ("drop: [shop/clean], add: [feed]", ["fx/rates", "feed"]),
        ("add: [{task: fx/rates, period: previous}]", ["clean", "fx/rates previous"]),
        ("add: [{task: shop/clean, select: all}]", ["fx/rates", "clean all"]),
    ],
)
def test_what_is_detected_can_be_corrected(text: str, found: list[str]) -> None:
    assert upstream(apps(FX, corrected(text))["shop"], "revenue") == found


def test_a_list_replaces_what_is_detected() -> None:
    named = SHOP.replace(
        "revenue: {program: revenue, cycle: day}",
        "revenue: {program: revenue, cycle: day, depends_on: [{task: self}, shop/feed]}",
    )
    shop = apps(FX, named)["shop"]
    assert upstream(shop, "revenue") == ["revenue self", "feed"]
    assert is_detected(shop, "revenue") == [False, False]
    not_detected = corrected("add: [feed]").replace("detected: true", "detected: false")
    assert upstream(apps(FX, not_detected)["shop"], "revenue") == ["feed"]


@pytest.mark.parametrize("member", ["{select: all}", "[feed]"])
def test_a_dependency_without_a_task_is_reported_once(member: str) -> None:
    found = compiled(FX, corrected(f"add: [{member}]")).diagnostics
    assert len([each for each in found if each.severity == "error"]) == 1


def test_dropping_what_is_not_detected_has_no_effect() -> None:
    found = compiled(FX, corrected("drop: [feed]")).diagnostics
    assert [each.severity for each in found if each.code == "V209"] == ["warning"]


def test_the_store_is_read_only_for_apps_that_are_named_where_that_is_asked_for() -> None:
    def read() -> Mapping[str, App]:
        raise AssertionError("the store is read")

    files = {"a.yaml": SHOP.encode(), "b.yaml": FX.encode()}
    assert compile_files(files, known=read, everywhere=False).ok
    with pytest.raises(AssertionError):
        compile_files(files, known=read)
    with pytest.raises(AssertionError):
        compile_files({"a.yaml": SHOP.encode()}, known=read, everywhere=False)


def test_a_task_of_a_deployed_app_that_no_file_names_is_detected() -> None:
    feeds = "app: feeds\ntasks:\n  orders: {type: external, dataset: shop/orders, cycle: hour}\n"
    deployed = apps(FX, SHOP, feeds)
    shop = apps(FX, SHOP, known=deployed)["shop"]
    assert upstream(shop, "revenue") == ["clean", "feeds/orders", "fx/rates"]


# --- cycles, of which test_task_cycles.py has more ---------------------------------------


def test_a_cycle_through_the_store_is_reported_in_the_file() -> None:
    deployed = apps(FX, SHOP)
    back = FX.replace("cycle: day}", "cycle: day, depends_on: [shop/revenue]}")
    found = compiled(back, known={"shop": deployed["shop"]}).diagnostics
    assert [each.code for each in found] == ["L442"]


def test_two_tasks_of_one_program_that_reads_what_it_writes_are_a_cycle_until_it_is_corrected() -> None:
    twice = SHOP + "  again: {program: clean, cycle: day%s}\n"
    assert "L442" in [each.code for each in compiled(FX, twice % "").diagnostics]
    assert compiled(FX, twice % ", depends_on: {detected: true, drop: [clean]}").ok is True


def test_a_task_that_waits_for_itself_may_read_what_it_replaces() -> None:
    waits = SHOP.replace("clean, cycle: hour}", "clean, cycle: hour, depends_on: [self]}")
    assert "L418" in [each.code for each in compiled(FX, SHOP).diagnostics]
    assert [each.code for each in compiled(FX, waits).diagnostics] == []


# --- one task alone, renames and what is printed ----------------------------------------


def test_a_task_alone_compiles_to_the_same() -> None:
    compilation = compiled(FX, SHOP)
    models = compilation.models()
    shop = models["shop"]
    for name, spec in compilation.apps["shop"].document["tasks"].items():
        whole = with_others(shop, models.values())
        built, diagnostics = compile_task(whole, name, spec, shop.schedules[name].at, others=models.values())
        assert diagnostics == ()
        assert built is not None
        assert built.trigger == shop.schedules[name].trigger


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        ({}, "S103"),
        ({"program": "revenue", "cycle": "day", "trigger": {"cron": "@daily"}}, "S101"),
        ({"program": "x", "cycle": "day"}, "N302"),
        ({"program": "revenue", "cycle": "day", "depends_on": ["x"]}, "N316"),
        ({"program": "clean", "cycle": "day", "depends_on": ["revenue"]}, "L442"),
    ],
)
def test_a_mistake_of_a_task_alone_points_to_the_given_place(spec: dict[str, Any], code: str) -> None:
    models = apps(FX, SHOP)
    built, diagnostics = compile_task(
        models["shop"], "clean", spec, At(file="x.yaml", line=7, column=3), others=models.values()
    )
    assert built is None
    assert [(each.code, each.at.file) for each in diagnostics] == [(code, "x.yaml")]


def test_a_renamed_app_keeps_its_upstream_tasks() -> None:
    shop = apps(FX, SHOP)["shop"]
    renamed = renamed_app(shop, Renames(apps={"shop": "store", "fx": "money"}))
    assert upstream(renamed, "revenue") == ["clean", "money/rates"]
    assert renamed.schedules["feed"].program == ""


def test_what_was_detected_is_one_line_for_each_task() -> None:
    models = apps(FX, corrected("add: [self]"))
    assert detected_lines(models.values()) == [
        "shop/revenue waits for clean, fx/rates (detected)",
        "shop/clean waits for feed (detected)",
    ]
    assert detected_json(models.values())[0] == {"task": "shop/revenue", "upstream": ["clean", "fx/rates"]}
    (first, _) = detected_notes(models.values())
    assert (first["severity"], first["file"], first["line"]) == ("note", "1.yaml", 10)


def test_an_example_gets_the_tasks_of_other_apps_that_it_waits_for() -> None:
    further = FX + "  other: {type: external, cycle: day}\n"
    (found,) = compiled(further, SHOP).apps["shop"].others
    assert (found.name, list(found.schedules)) == ("fx", ["rates"])
    assert list(found.programs) == ["load"]

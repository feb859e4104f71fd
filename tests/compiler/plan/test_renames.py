"""Renames as values: names that a text uses, places, and what a deployment leaves behind."""

import msgspec

from tests.worlds.world import app_of
from tidegate.compiler.plan.blocked import shared_places, touched
from tidegate.compiler.plan.left_behind import left_behind
from tidegate.compiler.plan.renamed_app import renamed_app, renamed_schedule
from tidegate.compiler.plan.renames import Renames, find_renames, moved_places, with_places
from tidegate.domain.model import Dataset, leaves

NAMES = Renames(datasets={"a/raw": "a/landed", "b/x": "c/y"}, programs={"a/p": "a/load", "a/q": "a/query"})


def test_a_text_names_parts_of_its_own_app_and_of_others() -> None:
    assert NAMES.local("datasets", "raw", "a") == "landed"
    assert NAMES.local("datasets", "b/x", "a") == "c/y"
    assert NAMES.local("datasets", "plain", "a") == "plain"
    assert NAMES.schedule("a/s") == "a/s"
    assert not Renames()


def test_a_schedule_is_rewritten_everywhere_it_names_a_part() -> None:
    app = app_of(
        "s:\n"
        "  program: q\n"
        "  trigger: {any: [{partitions: {dataset: raw}}, {run: {program: p}}, {cron: '@daily'}]}\n"
        '  args: {days: "{{ trigger.partitions.raw }}", list: ["{{ trigger.partitions.raw }}", 1]}\n'
    )
    found = renamed_schedule(app.schedules["s"], "a", NAMES)
    assert [getattr(leaf.trigger, "dataset", None) for leaf in leaves(found.trigger)] == [
        "landed",
        None,
        None,
    ]
    assert getattr(found.trigger, "of")[1].program == "load"  # noqa: B009 -- the union has no such field
    assert found.program == "query"
    assert found.args == {
        "days": "{{ trigger.partitions.landed }}",
        "list": ["{{ trigger.partitions.landed }}", 1],
    }
    assert list(renamed_app(app, NAMES).programs) == ["load", "query", "r", "t", "o"]


def test_an_output_from_a_renamed_dataset() -> None:
    app = app_of("s: {program: q, trigger: {run: {program: p}}}")
    schedule = msgspec.structs.replace(app.schedules["s"], output_from="raw")
    assert renamed_schedule(schedule, "a", NAMES).output_from == "landed"


def test_a_former_name_counts_only_while_it_is_deployed_and_the_yaml_does_not_have_it() -> None:
    app = app_of("s: {program: q, trigger: {run: {program: p}}}")
    named = msgspec.structs.replace(app, name="b", renamed_from=("a",))
    assert find_renames({"a": app}, {"b": named}).apps == {"a": "b"}
    assert not find_renames({"a": app}, {"a": app, "b": named}).apps
    assert not find_renames({}, {"b": named})


def test_places_follow_renames_and_a_way_back_forgets_them() -> None:
    once = moved_places({}, Renames(datasets={"a/x": "a/y"}))
    assert once == {"a/y": "a/x"}
    assert moved_places(once, Renames(datasets={"a/y": "b/z"})) == {"b/z": "a/x"}
    assert moved_places(once, Renames(datasets={"a/y": "a/x"})) == {}


def test_a_dataset_with_a_path_has_no_place_in_the_warehouse() -> None:
    app = msgspec.structs.replace(
        app_of("s: {program: q, trigger: {run: {program: p}}}"),
        datasets={"x": Dataset(name="x"), "y": Dataset(name="y", path="landing/y")},
    )
    placed = with_places({"a": app}, {"a/x": "a/old", "a/y": "a/older"})["a"]
    assert [each.stored_as for each in placed.datasets.values()] == ["a/old", None]
    assert not list(shared_places({"a": placed}))


def test_a_removed_reader_without_an_heir_leaves_its_watermarks_without_advice() -> None:
    reads = "datasets: {raw: {format: iceberg}, out: {format: iceberg, write: append}}\n"
    programs = "programs:\n  p: {run: a.p, reads: [{dataset: raw, incremental: true}], writes: [out]}\n"
    head = f"app: a\n{reads}{programs}schedules:\n"
    before = app_of("s: {program: p, trigger: {cron: '@daily'}}", head)
    bare = msgspec.structs.replace(before, programs={}, schedules={})
    marks = {("a/p", "a/raw"): ("",), ("a/gone", "a/raw"): ("",)}
    (left,) = left_behind({"a": before}, {"a": bare}, marks)
    assert (left.parts, left.again, left.remedy) == (1, (), "")
    assert not list(left_behind({"a": before}, {"a": before}, marks))


def test_a_program_that_uses_a_renamed_dataset_twice_is_touched_once_and_others_are_not() -> None:
    app = app_of("s: {program: q, trigger: {run: {program: p}}}")
    reading = msgspec.structs.replace(app.programs["r"], reads=("plain", "raw", "raw"))
    found = list(
        touched(NAMES, msgspec.structs.replace(app, programs={"r": reading, "t": app.programs["t"]}))
    )
    assert found == [("a/r", "a/raw", "a/landed")]


def test_a_whole_app_may_be_the_heir() -> None:
    reads = "datasets: {raw: {format: iceberg}, out: {format: iceberg, write: append}}\n"
    programs = "programs:\n  p: {run: a.p, reads: [{dataset: raw, incremental: true}], writes: [out]}\n"
    head = f"app: a\n{reads}{programs}schedules:\n"
    before = app_of("s: {program: p, trigger: {cron: '@daily'}}", head)
    after = app_of("s: {program: p, trigger: {cron: '@daily'}}", head.replace("raw", "landed"))
    (left,) = left_behind({"a": before}, {"a": after}, {("a/p", "a/raw"): ("",)})
    assert left.remedy == "if dataset landed is raw renamed, write `renamed_from: raw` in it"

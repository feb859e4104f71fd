"""What a deployment would do: rules 11 and 23 of docs/rules.md, one test for each sentence."""

from tidegate.compiler.compile import compile_files
from tidegate.compiler.plan.consequence import Effect
from tidegate.compiler.plan.diff import Diff, diff
from tidegate.domain.model import App

HEAD = """\
app: a
datasets: {d: {partitions: {cycle: day, start: 2013-01-01}}, e: {}}
programs: {p: {run: j.p, writes: [e]}, q: {run: j.q}}
schedules:
"""
DAILY = '  daily: {program: p, trigger: {cron: "@daily"}}\n'
AFTER = "  after: {program: q, trigger: {run: {program: p}}}\n"
COUNTING = "  counting: {program: q, trigger: {partitions: {dataset: d, count: 7}}}\n"


def apps(*texts: str) -> dict[str, App]:
    compilation = compile_files({f"{n}.yaml": text.encode() for n, text in enumerate(texts)})
    assert compilation.ok, compilation.diagnostics
    return compilation.models()


def actions(found: Diff) -> dict[str, str]:
    return {f"{change.app}/{change.name}": change.action for change in found.schedules()}


def test_the_same_apps_are_no_difference() -> None:
    same = apps(HEAD + DAILY + AFTER)
    found = diff(same, apps("# moved\n" + HEAD + AFTER + DAILY))
    assert found.empty
    assert found.after.keys() == same.keys()


def test_with_updating_schedules_follow_the_yaml() -> None:
    old, new = apps(HEAD + DAILY + AFTER), apps(HEAD + DAILY.replace("@daily", "@hourly") + COUNTING)
    found = diff(old, new)
    assert actions(found) == {"a/after": "delete", "a/counting": "create", "a/daily": "replace"}
    assert found.after == new


def test_without_updating_they_stay_as_they_are() -> None:
    old, new = apps(HEAD + DAILY + AFTER), apps(HEAD + DAILY.replace("@daily", "@hourly") + COUNTING)
    found = diff(old, new, update_schedules=False)
    assert set(actions(found).values()) == {"kept"}
    assert {c.name: c.would for c in found.schedules()} == {
        "after": "delete",
        "counting": "create",
        "daily": "replace",
    }
    assert found.empty
    assert found.after["a"].schedules == old["a"].schedules


def test_the_schedules_of_a_removed_program_always_go() -> None:
    old = apps(HEAD + DAILY + COUNTING)
    new = apps(HEAD.replace("p: {run: j.p, writes: [e]}, ", "") + COUNTING)
    for updating in (True, False):
        found = diff(old, new, update_schedules=updating)
        assert actions(found) == {"a/counting": "unchanged", "a/daily": "delete"}
        assert found.refusals == ()


def test_without_updating_a_removed_program_that_triggers_others_is_refused() -> None:
    old = apps(HEAD + DAILY + AFTER)
    new = apps(HEAD.replace("p: {run: j.p, writes: [e]}, ", "").replace("schedules:\n", ""))
    assert diff(old, new).refusals == ()
    (refusal,) = diff(old, new, update_schedules=False).refusals
    assert (refusal.section, refusal.name, refusal.schedules) == ("programs", "p", ("after",))


def test_the_schedules_of_a_removed_app_always_go() -> None:
    old = apps(HEAD + DAILY)
    effects = {("a", "daily"): Effect(discarded={"D-DELETED": 3}, active_runs=1, status="active")}
    for updating in (True, False):
        found = diff(old, {}, update_schedules=updating, effects=lambda _: effects)
        (change,) = found.schedules()
        assert change.action == "delete"
        assert [(c.kind, c.count, c.detail) for c in change.consequences] == [
            ("discards", 3, "D-DELETED"),
            ("leaves", 1, ""),
        ]
        assert found.after == {}
        assert not found.empty


def test_a_new_app_without_updating_comes_without_its_schedules() -> None:
    found = diff({}, apps(HEAD + DAILY), update_schedules=False)
    assert found.after["a"].schedules == {}
    assert found.after["a"].programs.keys() == {"p", "q"}
    assert not found.empty


def test_a_status_is_never_a_difference() -> None:
    old, new = apps(HEAD + DAILY), apps(HEAD + DAILY.replace("program: p", "program: p, status: active"))
    assert diff(old, new).empty


def test_a_new_owner_resets_nothing() -> None:
    old, new = apps(HEAD + DAILY), apps(HEAD + DAILY.replace("program: p", "program: p, owner: anna"))
    effects = {("a", "daily"): Effect(discarded={"D-UPDATED": 2})}
    (change,) = diff(old, new, effects=lambda _: effects).schedules()
    assert (change.action, change.consequences) == ("amend", ())
    assert not diff(old, new).empty


def test_a_schedule_whose_dataset_is_cut_anew_starts_anew() -> None:
    old = apps(HEAD + COUNTING)
    new = apps(HEAD.replace("cycle: day", "cycle: week") + COUNTING)
    effects = {("a", "counting"): Effect(discarded={"D-UPDATED": 1})}
    (change,) = diff(old, new, effects=lambda _: effects).schedules()
    assert change.action == "replace"
    assert change.because == "the partitions of d change"
    assert change.consequences[0].detail == "D-UPDATED"


def test_a_list_of_equal_length_differs_member_by_member() -> None:
    one = (
        '  s: {program: p, trigger: {cron: "@daily"}, constraints: [{delay: 5m}, {concurrency: {max: 1}}]}\n'
    )
    (change,) = diff(apps(HEAD + one), apps(HEAD + one.replace("max: 1", "max: 2"))).schedules()
    assert [(f.path, f.old, f.new) for f in change.fields] == [("constraints.1.max", 1, 2)]


def test_another_kind_of_trigger_differs_as_a_whole() -> None:
    (change,) = diff(
        apps(HEAD + DAILY), apps(HEAD + DAILY.replace('{cron: "@daily"}', "{run: {program: q}}"))
    ).schedules()
    assert [f.path for f in change.fields] == ["trigger"]


def test_what_a_size_or_a_clock_counts_cannot_be_removed_under_it() -> None:
    by_size = "  s: {program: q, trigger: {size: {dataset: d, rows: 5}}}\n"
    silence = "  s: {program: q, trigger: {elapsed: {for: 1h, since: last_event, dataset: d}}}\n"
    without_d = HEAD.replace("d: {partitions: {cycle: day, start: 2013-01-01}}, ", "").replace(
        "schedules:\n", ""
    )
    for schedule in (by_size, silence):
        (refusal,) = diff(apps(HEAD + schedule), apps(without_d), update_schedules=False).refusals
        assert (refusal.section, refusal.name, refusal.schedules) == ("datasets", "d", ("s",))


def test_a_schedule_that_counts_by_size_starts_anew_when_its_dataset_is_cut_anew() -> None:
    by_size = "  s: {program: q, on_update: carry, trigger: {size: {dataset: d, rows: 5}}}\n"
    (change,) = diff(
        apps(HEAD + by_size), apps(HEAD.replace("cycle: day", "cycle: week") + by_size)
    ).schedules()
    assert (change.action, change.because, change.carries) == ("replace", "the partitions of d change", False)


def test_it_carries_if_the_new_text_says_so() -> None:
    carrying = COUNTING.replace("program: q", "program: q, on_update: carry")
    more = carrying.replace("count: 7", "count: 8")
    (change,) = diff(apps(HEAD + COUNTING), apps(HEAD + more)).schedules()
    assert (change.action, change.carries) == ("replace", True)
    (change,) = diff(apps(HEAD + more), apps(HEAD + COUNTING)).schedules()
    assert (change.action, change.carries) == ("replace", False)

"""Parts of other apps: names among files and in the store, cycles through apps, and removals (rule 23)."""

from collections.abc import Mapping

import pytest

from tests.two_apps import FEEDS as PARTS
from tests.two_apps import SALES as OTHER
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.compiler.plan.diff import diff
from tidegate.compiler.plan.refusal import Refusal
from tidegate.domain.model import App
from tidegate.domain.model.others import with_others

FEEDS = f"""{PARTS}schedules:
  nightly: {{program: land, trigger: {{cron: "@daily"}}, args: {{day: 1}}}}
"""
SALES = f"""{OTHER}\
  daily: {{program: report, trigger: {{partitions: {{dataset: feeds/raw}}}}}}
"""


def compiled(*texts: str, known: Mapping[str, App] | None = None) -> Compilation:
    files = {f"{number}.yaml": text.encode() for number, text in enumerate(texts)}
    return compile_files(files, known=lambda: known or {})


def apps(*texts: str, known: Mapping[str, App] | None = None) -> dict[str, App]:
    compilation = compiled(*texts, known=known)
    assert compilation.ok, [(d.code, d.summary) for d in compilation.diagnostics]
    return compilation.models()


def codes(*texts: str, known: Mapping[str, App] | None = None) -> list[str]:
    return [d.code for d in compiled(*texts, known=known).diagnostics]


@pytest.mark.parametrize("texts", [(FEEDS, SALES), (SALES, FEEDS)], ids=["in order", "named first"])
def test_a_name_is_found_in_another_file_in_any_order(texts: tuple[str, str]) -> None:
    sales = apps(*texts)["sales"]
    assert sales.programs["report"].reads == ("feeds/raw",)
    assert sales.schedules["daily"].output_partition == "manifest"
    assert list(sales.datasets) == ["report"]


def test_a_name_is_found_in_the_store_and_a_file_comes_first() -> None:
    deployed = apps(FEEDS)
    assert apps(SALES, known=deployed)["sales"].schedules["daily"].output_partition == "manifest"
    without = FEEDS.replace("{partitions: {cycle: day, start: 2026-01-01}}", "{}")
    assert apps(SALES, without, known=deployed)["sales"].schedules["daily"].output_partition == "current"


def test_the_store_is_not_read_without_a_name_that_needs_it() -> None:
    def read() -> Mapping[str, App]:
        raise AssertionError("the store is read")

    assert compile_files({"f.yaml": FEEDS.encode(), "s.yaml": SALES.encode()}, known=read).ok


def test_the_own_app_may_be_named() -> None:
    own = FEEDS.replace("writes: [raw]", "writes: [feeds/raw]")
    (found,) = apps(own).values()
    assert found.programs["land"].writes == ("raw",)


def test_a_mistake_of_another_file_is_reported_there_only() -> None:
    wrong = FEEDS.replace("raw: {partitions: {cycle: day, start: 2026-01-01}}", "raw: {partition: 1}")
    found = compiled(wrong, SALES).diagnostics
    assert {(d.at.file, d.code) for d in found} == {("0.yaml", "S101")}


def test_apps_may_read_each_other() -> None:
    feeds = FEEDS.replace("writes: [raw]}", "reads: [sales/report], writes: [raw]}")
    assert codes(feeds, SALES) == []


INCREMENTAL = """
app: sales
datasets:
  log: {write: append, format: iceberg}
programs:
  report: {run: jobs.report, reads: [{dataset: feeds/raw, incremental: true}], writes: [sales/log]}
schedules:
  daily: {program: report, trigger: {run: {program: feeds/land}}}
"""


def test_new_data_of_another_app_is_found_where_its_programs_only_append() -> None:
    grown = FEEDS.replace("raw: {", "raw: {format: iceberg, write: append, ")
    assert codes(INCREMENTAL, grown) == []
    assert codes(INCREMENTAL, known=apps(grown)) == []
    assert codes(INCREMENTAL, grown.replace(" write: append,", "")) == ["L414"]
    landed = PARTS.replace("raw: {", "raw: {path: landing/raw, ").replace(", writes: [raw]", "")
    assert codes(INCREMENTAL, landed) == []
    incremental = landed.replace("land: {", "land: {reads: [{dataset: raw, incremental: true}], ")
    assert codes(INCREMENTAL, incremental) == []


def test_arguments_of_another_app_s_schedules_are_known() -> None:
    after = """
  after:
    program: report
    trigger: {run: {program: feeds/land}}
    args: {good: "{{ trigger.run.args.day }}", bad: "{{ trigger.run.args.dya }}"}
"""
    for known in ({}, apps(FEEDS)):
        found = compiled(*([] if known else [FEEDS]), SALES + after, known=known).diagnostics
        assert [(d.code, d.at.line) for d in found] == [("L412", 13)]


CYCLE = f"""{PARTS}schedules:
  again: {{program: land, trigger: {{partitions: {{dataset: sales/report}}}}}}
"""


def test_a_cycle_through_two_files_is_reported_once() -> None:
    (found,) = compiled(CYCLE, SALES).diagnostics
    assert (found.code, found.at.file) == ("L401", "0.yaml")
    assert found.summary.endswith("got feeds/again -> sales/daily -> feeds/again")


def test_a_cycle_within_one_file_is_reported_once_beside_names_of_others() -> None:
    own = SALES.replace("{dataset: feeds/raw}", "{dataset: report}")
    named = "  named: {program: report, trigger: {partitions: {dataset: feeds/raw}}}\n"
    (found,) = compiled(FEEDS, own + named).diagnostics
    assert found.summary.endswith("got daily -> daily")


def test_a_cycle_among_apps_of_the_store_is_not_reported_here() -> None:
    deployed = apps(CYCLE, known=apps(FEEDS, SALES.partition("schedules:")[0]))
    deployed |= apps(SALES, known=apps(FEEDS))
    third = "app: third\nprograms: {p: {run: jobs.p, reads: [feeds/raw, sales/report]}}\n"
    third += "schedules: {s: {program: p, trigger: {partitions: {dataset: feeds/raw}}}}\n"
    assert codes(third, known=deployed) == []


@pytest.mark.parametrize(
    ("path", "refused"),
    [("data/tables", True), ("Data/Tables/x", True), ("data", True), ("data/landed", False)],
)
def test_a_folder_is_outside_the_warehouse(path: str, refused: bool) -> None:
    text = f"app: feeds\ndatasets: {{raw: {{path: {path}}}}}\n"
    found = compile_files({"f.yaml": text.encode()}, warehouse="data/tables").diagnostics
    assert [d.code for d in found] == (["V207"] if refused else [])


def test_no_folder_is_outside_a_warehouse_around_all_paths() -> None:
    (found,) = compile_files(
        {"f.yaml": b"app: feeds\ndatasets: {raw: {path: raw}}\n"}, warehouse=""
    ).diagnostics
    assert found.code == "V207"
    assert 'the warehouse "."' in found.summary
    assert "give the warehouse a folder of its own" in found.hint


def test_a_draft_may_use_the_folder_of_another_file() -> None:
    texts = {name: f"app: {name}\ndatasets: {{raw: {{path: landing}}}}\n".encode() for name in ("a", "b")}
    assert [d.code for d in compile_files(texts).diagnostics] == ["V207"]
    assert compile_files(texts, drafts={"b"}).diagnostics == ()


def test_a_cycle_with_an_app_of_the_store_is_reported_in_the_file() -> None:
    deployed = {"feeds": apps(CYCLE, known=apps(FEEDS, SALES.partition("schedules:")[0]))["feeds"]}
    (found,) = compiled(SALES, known=deployed).diagnostics
    assert found.summary.endswith("got sales/daily -> feeds/again -> sales/daily")


def test_a_single_schedule_is_compiled_with_the_other_apps_that_are_given() -> None:
    both = apps(FEEDS, SALES)
    whole = with_others(both["sales"], both.values())
    spec = {
        "program": "report",
        "trigger": {"run": {"program": "feeds/land"}},
        "args": {"day": "{{ trigger.run.args.day }}"},
    }
    schedule, found = compile_schedule(whole, "daily", spec)
    assert found == ()
    assert schedule is not None
    assert schedule.output_partition == "run"


def test_a_single_schedule_that_names_no_part_of_an_app_of_the_store_says_which_it_has() -> None:
    both = apps(FEEDS, SALES)
    spec = {"program": "report", "trigger": {"partitions": {"dataset": "feeds/row"}}}
    whole = with_others(both["sales"], both.values())
    _, (unknown,) = compile_schedule(whole, "daily", spec, known=lambda: both)
    assert unknown.summary == 'app feeds must have the dataset that is named, got "feeds/row"'
    assert unknown.hint == 'did you mean "feeds/raw"?'


def test_a_former_name_is_taken_with_its_app_and_namespace() -> None:
    renamed = "app: b\nrenamed_from: default/a\ndatasets: {new: {renamed_from: [default/b/old, a/older]}}\n"
    app = apps(renamed)["b"]
    assert (app.renamed_from, app.datasets["new"].renamed_from) == (("a",), ("old", "older"))


# --- the other side changes ---

REPARTITIONED = FEEDS.replace("cycle: day, start: 2026-01-01", "cycle: hour, start: 2026-01-01-00:00")
NEED = {"schedules": ("sales/daily",), "programs": ("sales/report",)}


def refusals(before: Mapping[str, App], after: Mapping[str, App], others: Mapping[str, App]) -> list[Refusal]:
    return list(diff(before, after, others=others).refusals)


def test_a_removed_dataset_or_app_that_others_need_is_refused() -> None:
    both = apps(FEEDS, SALES)
    feeds, others = {"feeds": both["feeds"]}, {"sales": both["sales"]}
    bare = apps("app: feeds\n")
    expected = Refusal(app="feeds", section="datasets", name="raw", **NEED)
    assert refusals(feeds, bare, others) == [expected]
    assert refusals(feeds, {}, others) == [expected]
    assert refusals(both, apps(FEEDS, SALES), {}) == []
    assert refusals({"sales": both["sales"]}, both, {}) == [], "what was forced is not a reason again"


def test_a_removed_program_that_others_wait_for_is_refused() -> None:
    after = SALES.replace("{partitions: {dataset: feeds/raw}}", "{run: {program: feeds/land}}")
    both = apps(FEEDS, after)
    (found,) = refusals({"feeds": both["feeds"]}, {}, {"sales": both["sales"]})[1:]
    assert (found.section, found.name, found.schedules) == ("programs", "land", ("sales/daily",))


@pytest.mark.parametrize(
    ("scheme", "refused"),
    [
        ("{cycle: hour, start: 2026-01-01-00:00}", True),
        ("{cycle: day, start: 2026-02-01}", True),
        ("{cycle: day, start: 2025-01-01}", False),
        ("{cycle: day, start: 2026-01-01, timezone: Europe/Berlin}", True),
        ("{day: {cycle: day, start: 2026-01-01}, origin: [JFK]}", True),
        ("{origin: [JFK]}", True),
    ],
)
def test_partitions_that_lose_keys_are_refused_while_others_collect_them(scheme: str, refused: bool) -> None:
    both = apps(FEEDS, SALES)
    changed = apps(PARTS.replace("{cycle: day, start: 2026-01-01}", scheme))
    found = refusals({"feeds": both["feeds"]}, changed, {"sales": both["sales"]})
    expected = Refusal(
        app="feeds", section="datasets", name="raw", schedules=("sales/daily",), fault="repartitioned"
    )
    assert found == ([expected] if refused else [])


@pytest.mark.parametrize(("keys", "refused"), [("[JFK, LGA]", False), ("[EWR, JFK]", False), ("[LGA]", True)])
def test_a_list_may_gain_keys(keys: str, refused: bool) -> None:
    feeds = PARTS.replace("{cycle: day, start: 2026-01-01}", "{origin: [JFK]}")
    sales = SALES.replace("{cycle: day, start: 2026-01-01}", "{origin: [JFK]}")
    both = apps(feeds, sales)
    changed = apps(feeds.replace("[JFK]", keys))
    found = refusals({"feeds": both["feeds"]}, changed, {"sales": both["sales"]})
    assert bool(found) is refused


def test_partitions_that_change_with_their_schedules_replace_these() -> None:
    hourly = SALES.replace("trigger: {", "for_each: day, trigger: {")
    changes = diff(apps(FEEDS, hourly), apps(REPARTITIONED, hourly))
    assert changes.refusals == ()
    (change,) = [each for each in changes.schedules() if each.app == "sales"]
    assert (change.action, change.because) == ("replace", "the partitions of feeds/raw change")


def test_an_app_that_names_what_is_not_deployed_is_refused() -> None:
    sales = {"sales": apps(FEEDS, SALES)["sales"]}
    (found,) = refusals({}, sales, {})
    assert found == Refusal(app="feeds", section="datasets", name="raw", fault="missing", **NEED)
    assert found.remedy == "deploy app feeds first, or both together, or deploy with --force"
    assert diff(sales, sales).refusals == (), "it was forced once"
    assert diff({}, {}, others=sales).refusals == ()

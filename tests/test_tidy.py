"""Style is a test: the project's rules, and for each rule a small bad snippet that it must catch."""

import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import yaml

from tests.tidy.circles import check_circles
from tests.tidy.codes import CATALOGUE_FILE, REASON_FILE, REFUSAL_FILE, check_catalogue, check_codes
from tests.tidy.english import LISTS, check_english, check_page, check_source
from tests.tidy.finding import Finding, Source
from tests.tidy.internals import check_internals
from tests.tidy.kinds import check_kinds, check_operations
from tests.tidy.links import check_links
from tests.tidy.mentions import Mentions
from tests.tidy.purity import BARE_NAMES, check_purity
from tests.tidy.rules import RULES_FILE, check_cited, check_shown, rules
from tests.tidy.shape import check_figures, check_folders, check_shape
from tidegate.compiler.diagnostics.catalogue import CATALOGUE
from tidegate.compiler.diagnostics.remedies import REMEDIES
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.reason_texts import REASON_TEXTS
from tidegate.scheduler.model.refused import REFUSALS

ROOT = Path(__file__).parent.parent
PRODUCT = "tidegate"
FOLDERS = (PRODUCT, "benchmarks", "tests")
REASONS = frozenset(reason.value for reason in Reason) | REFUSALS.keys()


@cache
def sources() -> tuple[Source, ...]:
    """Every Python file of the project."""
    return tuple(
        Source(path=path.relative_to(ROOT).as_posix(), text=path.read_text("utf-8"))
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "__pycache__" not in path.parts
    )


@cache
def pages() -> tuple[str, ...]:
    """Every page of the documentation."""
    docs = (path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/**/*.md")))
    return ("README.md", "CONTRIBUTING.md", *docs)


@cache
def apps() -> tuple[str, ...]:
    """Every YAML file of the example and the stories."""
    return tuple(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("schedules/**/*.yaml")))


def report(findings: Iterator[Finding]) -> None:
    lines = [str(finding) for finding in findings]
    assert not lines, "\n" + "\n".join(lines)


# --- the project ------------------------------------------------------------------------


def test_files_have_the_shape_that_style_asks_for() -> None:
    report(finding for source in sources() for finding in check_shape(source))


def test_folders_are_as_style_asks_for() -> None:
    report(check_folders(sources()))


def test_figures_of_the_product_are_as_style_asks_for() -> None:
    report(check_figures(source for source in sources() if source.package == PRODUCT))


def test_modules_reach_only_what_they_may() -> None:
    report(finding for source in sources() for finding in check_purity(source))


def test_imports_form_no_circle_in_any_folder() -> None:
    for folder in FOLDERS:
        report(check_circles(source for source in sources() if source.package == folder))


def test_no_code_tests_for_a_kind_of_trigger_or_an_operation() -> None:
    ours = [source for source in sources() if source.package == PRODUCT]
    report(finding for source in ours for finding in (*check_kinds(source), *check_operations(source)))


def test_private_parts_of_dagster_are_in_one_folder() -> None:
    report(check_internals(sources()))


def test_every_code_in_the_source_is_in_its_catalogue() -> None:
    ours = [source for source in sources() if source.package == PRODUCT]
    report(finding for source in ours for finding in check_codes(source, CATALOGUE, REASONS))


def test_every_diagnostic_is_in_the_docs_and_in_a_golden_file() -> None:
    golden = "\n".join(path.read_text("utf-8") for path in sorted((ROOT / "tests/golden").rglob("*.txt")))
    report(check_catalogue(CATALOGUE, "tests/golden", golden))
    report(
        check_catalogue(CATALOGUE, "docs/diagnostics.md", (ROOT / "docs/diagnostics.md").read_text("utf-8"))
    )


def test_every_code_has_a_text_that_explains_it() -> None:
    """`tidegate explain` shows all three; a code without a remedy leaves its reader alone."""
    assert set(REMEDIES) == set(CATALOGUE), "tidegate/compiler/diagnostics/remedies.py"
    assert set(REASON_TEXTS) == set(Reason), "tidegate/scheduler/model/reason_texts.py"


def test_every_reason_is_in_the_docs() -> None:
    report(check_catalogue(REASONS, "docs/reasons.md", (ROOT / "docs/reasons.md").read_text("utf-8")))


def test_every_rule_that_is_cited_is_in_the_docs() -> None:
    known = rules((ROOT / RULES_FILE).read_text("utf-8"))
    assert known == set(range(1, 31))
    texts = {source.path: source.text for source in sources() if source.path != "tests/test_tidy.py"}
    texts |= {path: (ROOT / path).read_text("utf-8") for path in (*pages(), *apps())}
    report(finding for path, text in texts.items() for finding in check_cited(path, text, known))


def test_every_rule_links_to_a_scenario_that_shows_it() -> None:
    texts = {path: (ROOT / path).read_text("utf-8") for path in apps()}
    # Other loaders make dates of texts, and fail at 2026-02-30, which an example may try.
    parsed = {path: yaml.load(text, Loader=yaml.CBaseLoader) for path, text in texts.items()}
    scenarios = {path: [each["name"] for each in app.get("examples", ())] for path, app in parsed.items()}
    report(check_shown((ROOT / RULES_FILE).read_text("utf-8"), scenarios))


def test_links_between_pages_lead_somewhere() -> None:
    report(finding for page in pages() for finding in check_links(ROOT, page))


def test_files_and_modules_that_are_named_exist() -> None:
    texts = {source.path: source.text for source in sources() if source.path != "tests/test_tidy.py"}
    texts |= {page: (ROOT / page).read_text("utf-8") for page in pages()}
    mentions = Mentions(source.path for source in sources())
    report(finding for path, text in texts.items() for finding in mentions.check(path, text))


def test_pages_and_scenarios_are_in_plain_english() -> None:
    texts = {path: (ROOT / path).read_text("utf-8") for path in (*pages(), *apps())}
    report(finding for path, text in texts.items() for finding in check_page(path, text))


def test_code_is_in_plain_english() -> None:
    report(finding for source in sources() if source.path not in LISTS for finding in check_source(source))


def test_the_folders_at_the_top_are_links_into_the_package() -> None:
    for name in sorted(BARE_NAMES):
        assert (ROOT / name).readlink() == Path(PRODUCT) / name


# --- the rules themselves ---------------------------------------------------------------

DOC = '"""What it is."""\n'
JOB = "tidegate/scheduler/model/job.py"


@pytest.mark.parametrize(
    ("path", "text", "caught"),
    [
        ("tidegate/scheduler/utils.py", DOC, '"utils" says nothing'),
        ("tidegate/scheduler/helpers/job.py", DOC, '"helpers" says nothing'),
        (JOB, "x = 1\n", "no docstring"),
        (JOB, DOC + "x = 1\n" * 400, "401 lines"),
        (JOB, DOC + "def f():\n" + "    x = 1\n" * 70, "f() has 71 lines"),
        (JOB, DOC + "x = " + "1" * 107 + "\n", "111 characters"),
        (JOB, DOC + "x = 1  # " + "TODO more\n", "leftover TODO"),
        (JOB, DOC + "x = 1  # " + "noqa: E501\n", "without its reason"),
        (JOB, DOC + "x = 1  # " + "type: ignore[arg-type]\n", "without its reason"),
        ("tests/test_job.py", DOC + "import pytest\npytest.skip('no')\n", "pytest's skip"),
        ("tests/test_job.py", DOC + "import pytest\n@pytest.mark.xfail\ndef f(): ...\n", "pytest's xfail"),
    ],
)
def test_shape_rules_catch(path: str, text: str, caught: str) -> None:
    found = [str(finding) for finding in check_shape(Source(path=path, text=text))]
    assert len(found) == 1, found
    assert caught in found[0]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (JOB, DOC + "x = 1  # " + "noqa: BLE001 - any failure of a hook is a failed run\n"),
        (JOB, DOC + "x = 'TO" + "DO is a word of the user'\n"),
        ("tidegate/scheduler/__init__.py", ""),
        ("tidegate/scheduler/store/clock.py", DOC + "import time, sqlalchemy\ntime.time()\n"),
        ("tidegate/dagster_defs/x.py", DOC + "import dagster, os\nimport tidegate.scheduler.tick\n"),
        ("tidegate/compiler/x.py", DOC + "from datetime import datetime\ndef f(now): return now.date()\n"),
    ],
)
def test_rules_leave_good_code_alone(path: str, text: str) -> None:
    source = Source(path=path, text=text)
    assert [*check_shape(source), *check_purity(source)] == []


@pytest.mark.parametrize(
    ("path", "line", "caught"),
    [
        ("tidegate/cli/x.py", "import scheduler.job", "write tidegate.scheduler.job"),
        ("tests/x.py", "from spark_jobs import runner", "write tidegate.spark_jobs"),
        ("tidegate/compiler/x.py", "import time", "imports time"),
        ("tidegate/domain/x.py", "from os import environ", "imports os"),
        ("tidegate/scheduler/x.py", "import random", "imports random"),
        ("tidegate/compiler/x.py", "from datetime import datetime; datetime.now()", "reads the clock"),
        ("tidegate/compiler/x.py", "import datetime; datetime.date.today()", "reads the clock"),
        ("tidegate/scheduler/x.py", "open('x')", "calls open()"),
        ("tidegate/scheduler/x.py", "print('x')", "calls print()"),
    ],
)
def test_purity_rules_catch(path: str, line: str, caught: str) -> None:
    found = [str(finding) for finding in check_purity(Source(path=path, text=DOC + line + "\n"))]
    assert len(found) == 1, found
    assert found[0].startswith(f"{path}:2: error: ")
    assert caught in found[0]


def test_a_test_for_a_kind_of_trigger_is_caught() -> None:
    text = DOC + "def f(trigger): return isinstance(trigger, CronTrigger)\n"
    assert [*check_kinds(Source(path="tidegate/compiler/triggers/cron.py", text=text))] == []
    assert [str(one) for one in check_kinds(Source(path="tidegate/server/x.py", text=text))] == [
        "tidegate/server/x.py:2: error: names CronTrigger; ask the trigger for a fact"
    ]


def test_prefixes_full_folders_and_sizes_are_caught() -> None:
    def files(*names: str, text: str = "") -> list[Source]:
        return [Source(path=f"tidegate/room/{name}.py", text=text) for name in names]

    assert [*check_folders(files("past", "past_rows", "rows", "why"))] == []
    assert [str(one) for one in check_folders(files("past", "past_rows", "past_fold", "why"))] == [
        'tidegate/room:1: error: 3 files begin with "past"; make it a folder'
    ]
    assert [str(one) for one in check_folders(files("past", "test_past", "test_past_rows", "test_why"))] == [
        'tidegate/room:1: error: 3 files begin with "past"; make it a folder'
    ]
    assert "31 files, at most 30" in str(next(check_folders(files(*(f"n{n}" for n in range(31))))))
    body = "\n    pass" * 50
    assert [*check_figures(files("a", text=f"def f() -> None:{body[:-9]}"))] == []
    assert [one.message for one in check_figures(files("a", text=f"def f() -> None:{body}"))] == [
        "1 of 1 functions have more than 50 lines, at most 5 of a thousand"
    ]
    assert [one.message for one in check_figures(files("a", text="x = 1\n" * 121))] == [
        "half of all files have more than 121 lines, at most 120"
    ]


def test_a_circle_of_folders_is_caught() -> None:
    def importing(name: str, *modules: str) -> Source:
        return Source(path=f"tidegate/{name}.py", text="".join(f"import {each}\n" for each in modules))

    run = importing("room/run/launch", "tidegate.room.names", "tidegate.room.dispatch")
    names = importing("room/names")
    steps = importing("room/dispatch/steps", "tidegate.room.names", "tidegate.room.run.launch")
    dispatch = importing("room/dispatch/__init__", "tidegate.room.dispatch.steps")
    assert [*check_circles([run, names, importing("room/dispatch/__init__")])] == []
    assert [str(one) for one in check_circles([run, names, steps, dispatch])] == [
        "tidegate/room/dispatch/steps.py:2: error: imports form a circle: "
        "dispatch imports run (tidegate/room/dispatch/steps.py:2), "
        "run imports dispatch (tidegate/room/run/launch.py:2)"
    ]


def test_unknown_codes_are_caught() -> None:
    source = Source(
        path="tidegate/compiler/x.py", text='code = "R999"\nreason = "W-MOON"\nfine = "W-WINDOW"\n'
    )
    found = [str(finding) for finding in check_codes(source, {"R101"}, {"W-WINDOW"})]
    assert found == [
        f"tidegate/compiler/x.py:1: error: diagnostic R999 has no entry in {CATALOGUE_FILE}",
        f"tidegate/compiler/x.py:2: error: reason W-MOON is not in {REASON_FILE} or {REFUSAL_FILE}",
    ]


def test_a_code_is_found_as_a_word_only() -> None:
    assert [f.message for f in check_catalogue(["D-LAST", "D-LAST-RUN"], "docs", "`D-LAST-RUN`")] == [
        "D-LAST is missing"
    ]


def test_unknown_rules_and_scenarios_are_caught() -> None:
    cited = "see rule 7\nand rules 1, 8 and 30"
    assert [str(finding) for finding in check_cited("x.py", cited, {1, 7, 8})] == [
        f"x.py:2: error: rule 30 is not in {RULES_FILE}"
    ]
    text = "## 1. Joining\n\nShown by: [a](../schedules/x.yaml)\n\n## 2. Bare\n"
    assert rules(text) == {1, 2}
    assert [str(finding) for finding in check_shown(text, {"schedules/x.yaml": ["b"]})] == [
        f"{RULES_FILE}:1: error: schedules/x.yaml has no scenario 'a'",
        f"{RULES_FILE}:5: error: '2. Bare' has no line `Shown by: [scenario](../schedules/FILE)`",
    ]


def test_links_that_lead_nowhere_are_caught(tmp_path: Path) -> None:
    (tmp_path / "b.md").write_text("# What `a` says\n```\n# code\n```\n")
    (tmp_path / "a.md").write_text("[1](b.md#what-a-says) [2](c.md)\n[3](b.md#code) [4](https://x.org)\n")
    assert [str(finding) for finding in check_links(tmp_path, "a.md")] == [
        "a.md:1: error: c.md does not exist",
        "a.md:2: error: b.md#code: no such heading",
    ]


def test_files_and_modules_that_do_not_exist_are_caught() -> None:
    mentions = Mentions(["tidegate/scheduler/tick/tick.py"])
    text = "`scheduler/tick/tick.py`, `tick/take.py`\n`scheduler.tick.tick.Tick`, `scheduler.tock.tick`"
    assert [str(one) for one in mentions.check("a.md", text)] == [
        "a.md:1: error: tick/take.py does not exist",
        "a.md:2: error: module scheduler.tock.tick does not exist",
    ]


@pytest.mark.parametrize(
    ("text", "caught"),
    [
        ("The job stands in the queue.", "stands"),
        ("It was told and begins anew.", "told, anew"),
        ("Whoever comes; nobody is let go.", "Whoever, nobody, let go"),
        ("`42` is no number", "is no"),
        ("There is no store, and it is no longer needed.", ""),
        ("`stands` is a column, and outstanding is a word.", ""),
    ],
)
def test_words_of_the_dialect_are_caught(text: str, caught: str) -> None:
    found = [finding.message.partition(":")[0].strip('"') for finding in check_english("x.md", text)]
    assert ", ".join(found) == caught


def test_comments_are_those_that_python_itself_finds() -> None:
    text = Path(__file__).read_text("utf-8") + (
        "x = '# a' + \"# b\" + r'\\\\'  # one\n"
        "y = '''\n# c ' \\''' # d''' + \"it's\"  # it's \"two\"\n"
        'z = f"{x!r} # \\" e"\n#three\n'
    )
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    wanted = [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]
    assert [comment for _, comment in wanted[-3:]] == ["# one", '# it\'s "two"', "#three"]
    assert Source(path="x.py", text=text).comments == wanted


def test_the_dialect_is_caught_in_comments_and_strings() -> None:
    source = Source(path="x.py", text='"""A page that stands."""\n\nx = "told"  # nobody\n')
    assert [finding.line for finding in check_source(source)] == [3, 1, 3]

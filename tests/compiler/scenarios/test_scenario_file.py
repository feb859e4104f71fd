"""Files for `tidegate simulate`: what each form becomes, and what is said of a wrong one."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.compiler.compile import CompiledApp, compile_files
from tidegate.compiler.scenario_file import ScenarioFile
from tidegate.compiler.scenarios.model.scenario import PartitionsArrive, ReportGauges, Scenario

APP = b"""
app: a
timezone: America/New_York
datasets:
  raw: {partitions: {cycle: day, start: 2013-01-01}}
  chunks: {partitions: {day: {cycle: day, start: 2013-01-01}, origin: [EWR, JFK]}}
  plain: {}
programs: {p: {run: programs.p}}
schedules: {s: {program: p, trigger: {cron: "0 6 * * *"}}}
"""

NOON = datetime(2026, 3, 10, 16, tzinfo=UTC)


def app() -> CompiledApp:
    return compile_files({"a.yaml": APP}).apps["a"]


def scenario(file: str, text: str, until: str | None = None) -> Scenario:
    read = ScenarioFile(file, text.encode())
    found = read.scenario(app(), until)
    assert found is not None, read.diagnostics
    return found


def complaint(file: str, text: str | bytes) -> str:
    read = ScenarioFile(file, text if isinstance(text, bytes) else text.encode())
    assert read.scenario(app()) is None
    first = read.diagnostics[0]
    return f"{first.at} {first.code} {first.summary}"


YAML = """
app: a
start: 2026-03-10T12:00:00-04:00
given:
  - {at: +1h, partitions: {dataset: raw, keys: [2026-03-09]}}
  - {at: +2h, gauge: {cluster_load: 85.5}}
"""


def test_yaml_is_an_example_on_its_own() -> None:
    found = scenario("day.yaml", YAML)
    assert (found.name, found.start) == ("day", NOON)
    assert [each.action for each in found.given] == [
        PartitionsArrive(dataset="raw", keys=("2026-03-09",)),
        ReportGauges(values={"cluster_load": 85.5}),
    ]
    assert ScenarioFile("day.yaml", YAML.encode()).app == "a"


def test_it_plays_for_a_day_after_its_last_event_unless_something_says_otherwise() -> None:
    assert scenario("day.yaml", YAML).until == NOON + timedelta(hours=26)
    assert scenario("day.yaml", YAML, "+3h").until == NOON + timedelta(hours=3)
    assert scenario("day.yaml", f"{YAML}until: +4h\n").until == NOON + timedelta(hours=4)
    assert scenario("day.yaml", f"{YAML}expect: []\n").until == NOON + timedelta(hours=2)


CSV = """\
at,dataset,key,bytes,rows

2026-03-10T13:00:00-04:00,raw,2026-03-09,12MB,900
2026-03-10T12:00:00,chunks,2026-03-09|JFK,,
2026-03-10T18:00:00Z,plain,,5000,
"""


def test_csv_is_partitions_that_came_and_begins_with_the_first() -> None:
    found = scenario("feeds/day.csv", CSV)
    assert (found.name, found.start) == ("day", NOON)
    assert [(each.when - NOON, each.action) for each in found.given] == [
        (
            timedelta(hours=1),
            PartitionsArrive(dataset="raw", keys=("2026-03-09",), bytes=12_000_000, rows=900),
        ),
        (timedelta(0), PartitionsArrive(dataset="chunks", keys=("2026-03-09|JFK",))),
        (timedelta(hours=2), PartitionsArrive(dataset="plain", keys=("",), bytes=5000)),
    ]
    assert str(found.given[1].at) == "feeds/day.csv:4:1"


def test_columns_may_be_left_out_and_stand_in_any_order() -> None:
    found = scenario("day.csv", "dataset,at\nplain,2026-03-10T12:00:00\n")
    assert found.given[0].action == PartitionsArrive(dataset="plain", keys=("",))


def test_json_lines_are_actions() -> None:
    lines = [
        {"at": "2026-03-10T12:00:00", "partitions": {"dataset": "raw", "keys": ["2026-03-09"], "rows": 3}},
        {"at": "2026-03-10T13:00:00", "gauge": {"cluster_load": 85}},
    ]
    found = scenario("day.jsonl", "\n\n".join(map(json.dumps, lines)))
    assert [each.when - found.start for each in found.given] == [timedelta(0), timedelta(hours=1)]
    assert found.start == NOON


@pytest.mark.parametrize(
    ("file", "text", "says"),
    [
        ("day.yaml", "- 1", "day.yaml:1:1 R115"),
        ("day.yaml", "given: []", "day.yaml:1:1 S103"),
        ("day.yaml", "start: soon", "day.yaml:1:8 V210"),
        ("day.yaml", f"{YAML}launch: s", "S101"),
        ("day.yaml", YAML.replace("raw", "rw"), "day.yaml:5:37 N301"),
        ("day.yaml", YAML.replace("cluster_load", "Cluster"), "day.yaml:6:23 S106 a name must be lower-case"),
        ("day.csv", "", "day.csv:1:1 S106 the columns are at and dataset"),
        ("day.csv", "at,dataset\n", "day.csv:1:1 S106 a file of events holds at least one"),
        ("day.csv", "at,key\n1,2\n", 'got "at" and "key"'),
        ("day.csv", "at,dataset,dataset\n1,2,3\n", "S106 the columns"),
        ("day.csv", "at,dataset\nnow,raw,3\n", "day.csv:2:1 S106 a line has 2 values like the first, got 3"),
        ("day.csv", "at,dataset\nnow,plain\n", "day.csv:2:1 V210"),
        ("day.csv", "at,dataset\n\n2026-03-10T12:00:00,\n", "day.csv:3:1 S103"),
        (
            "day.csv",
            CSV + "2026-03-10T18:00:00Z,,,,\n",
            "day.csv:6:1 S103 an arrival of partitions needs the key `dataset`",
        ),
        ("day.csv", CSV + ",plain,,,\n", "day.csv:6:1 S103 an action needs the key `at`"),
        ("day.csv", CSV + "2026-03-10T18:00:00Z,plane,,,\n", "day.csv:6:1 N301"),
        ("day.csv", CSV + "2026-03-10T18:00:00Z,raw,9 March,,\n", "day.csv:6:1 V205"),
        ("day.csv", CSV + '2026-03-10T18:00:00Z,"raw,x\n', "day.csv:6:1 S106 a line of CSV"),
        ("day.csv", CSV.encode("utf-16"), "day.csv:1:1 R102"),
        ("day.jsonl", "\n", "S106 a file of events holds at least one"),
        ("day.jsonl", "{}\n[]", "day.jsonl:2:1 S106 a line is one action as JSON"),
        ("day.jsonl", '{"at": NaN}', "S106"),
        ("day.jsonl", '{"at": 12345678901234567890}', "S106"),
        ("day.jsonl", '{"at": "\\ud800"}', "S106"),
        ("day.jsonl", "[" * 100_000, "S106"),
        ("day.jsonl", '{"at": ' + "[" * 100 + "]" * 100 + "}", "S106"),
        ("day.jsonl", '{"at": "2026-03-10T12:00:00", "sleep": 1}', "S101"),
    ],
)
def test_a_wrong_file_is_told_where(file: str, text: str | bytes, says: str) -> None:
    assert says in complaint(file, text)


@settings(max_examples=60, deadline=None)
@given(suffix=st.sampled_from(["csv", "jsonl", "yaml"]), data=st.binary(max_size=200))
def test_no_bytes_raise(suffix: str, data: bytes) -> None:
    read = ScenarioFile(f"x.{suffix}", data)
    assert read.scenario(app()) is not None or read.diagnostics


@settings(max_examples=60, deadline=None)
@given(
    text=st.lists(
        st.lists(
            st.sampled_from(["at", "dataset", "key", "2026-03-10T12:00:00", "+1h", "raw", '"', "5", ""])
        ).map(",".join)
    ).map("\n".join)
)
def test_no_table_raises(text: str) -> None:
    read = ScenarioFile("x.csv", text.encode())
    assert read.scenario(app()) is not None or read.diagnostics

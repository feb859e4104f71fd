"""Any bytes whatever give diagnostics, never an exception: the compiler is total."""

import json
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.render.diagnostics.json import diagnostics_json
from tidegate.compiler.render.diagnostics.text import diagnostics_text

FLIGHTS = (Path(__file__).parents[2] / "schedules" / "flights.yaml").read_bytes()

VOCABULARY = """
    app timezone datasets programs schedules groups examples program trigger cron partitions run all any
    dataset count keys complete day hour window from to delay concurrency max since_last_run for
    otherwise skip timeout after then status args for_each output_partition key manifest a b UTC 22:00
    10m 2013-01-01 wait_at_most cycle start origin reads writes path format parquet j.a
    size bytes rows distinct 1GB elapsed since last_event at_least n of sequence quiet quiet_at_most
    collect_within calendar calendars nth_business_day country US weekend sat closed open rate per load gauge
    max_active_runs batching each max_batch on_suspend hold on_update carry templates defaults rows
    ${each.a} ${each.b} x${each.a} $${each.a} ${each. ${env.A} rows.csv
"""
WORDS = st.sampled_from(VOCABULARY.split())
SCALARS = st.one_of(WORDS, st.integers(), st.booleans(), st.none(), st.floats(), st.text(max_size=8))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=25,
)
APPS = st.fixed_dictionaries(
    {"app": st.just("a")},
    optional={
        "timezone": SCALARS,
        "calendars": st.dictionaries(WORDS, VALUES, max_size=2),
        "datasets": st.dictionaries(WORDS, VALUES, max_size=3),
        "programs": st.dictionaries(WORDS, VALUES, max_size=3),
        "templates": st.dictionaries(
            WORDS,
            st.fixed_dictionaries(
                {
                    "for": st.dictionaries(WORDS, st.lists(SCALARS, min_size=1, max_size=2), max_size=2)
                    | VALUES
                },
                optional={"datasets": st.dictionaries(WORDS, VALUES, max_size=2), "schedules": VALUES},
            ),
            max_size=2,
        ),
        "defaults": st.dictionaries(WORDS, VALUES, max_size=2),
        "schedules": st.dictionaries(
            WORDS,
            st.fixed_dictionaries({"program": WORDS, "trigger": VALUES}, optional={"args": VALUES}),
            max_size=3,
        ),
    },
)


@given(st.binary(max_size=400))
@example(b"\xef\xbb\xbfapp: a")
@example(b"app: a\r\nb: c\rd: e\n")
@example(b"%")
@example(b"--- ---\n")
def test_any_bytes(data: bytes) -> None:
    assert_sound(compile_files({"f.yaml": data}), data)


@given(st.text(alphabet="ab:-[]{}&*!|>'\"%@`#,? \n\t<01.~", max_size=120))
def test_anything_that_looks_like_yaml(text: str) -> None:
    assert_sound(compile_files({"f.yaml": text.encode()}), text.encode())


@given(VALUES | APPS)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_value_in_the_words_of_the_language(value: Any) -> None:
    data = yaml.safe_dump(value, allow_unicode=True).encode("utf-8", errors="replace")
    assert_sound(compile_files({"f.yaml": data}), data)


SLOTS = """
app: a
timezone: SLOT_zone
datasets:
  d: {partitions: {cycle: SLOT_cycle, start: SLOT_start}, path: SLOT_path}
  e: {partitions: {day: {cycle: day, start: 2013-01-01}, origin: [SLOT_origin]}}
programs: {p: {run: SLOT_run, reads: [d]}}
schedules:
  s:
    program: p
    trigger:
      any:
        - partitions: {dataset: d, keys: [SLOT_start]}
        - partitions: {dataset: e, keys: [{day: SLOT_start, origin: SLOT_origin}]}
        - {cron: SLOT_cron, timezone: SLOT_zone, catch_up_at_most: SLOT_duration}
    constraints:
      - window: {from: SLOT_time, to: SLOT_time}
      - delay: SLOT_duration
    args: {x: SLOT_template, y: [SLOT_template]}
  t:
    program: p
    trigger:
      at_least:
        n: SLOT_number
        of:
          - {size: {dataset: d, bytes: SLOT_size}, collect_within: SLOT_duration}
          - {cron: SLOT_cron, calendar: c, nth_business_day: SLOT_number}
      quiet: SLOT_duration
      quiet_at_most: SLOT_duration
    max_batch: SLOT_number
    constraints:
      - load: {gauge: a, max: SLOT_number}
calendars:
  c: {country: SLOT_country, subdivision: SLOT_country, closed: [SLOT_date], open: [SLOT_date]}
"""
NEARLY = {
    "zone": st.sampled_from(
        ["UTC", "Europe/Berlin", "Europe", "", "/", "..", "EST", "localtime", "UTC\0", "a" * 60]
    ),
    "cycle": st.sampled_from(["minute", "hour", "day", "week", "month", "year"]),
    "start": st.text(alphabet="0123456789-:+", max_size=22)
    | st.datetimes().map(lambda at: f"{at:%Y-%m-%d}")
    | st.datetimes().map(lambda at: f"{at:%Y-%m-%d-%H:00}"),
    "path": st.text(alphabet="a/.~\\ ", max_size=8),
    "origin": st.text(alphabet="aZ0|-_ .", max_size=4),
    "run": st.text(alphabet="a.0_", max_size=6),
    "cron": st.lists(st.text(alphabet="0123456789*/-,LW#?R@ monJAN", max_size=6), max_size=6).map(" ".join),
    "duration": st.text(alphabet="0123456789smhdPTDWY.-", max_size=7),
    "time": st.text(alphabet="0123456789:", max_size=6),
    "template": st.lists(
        st.sampled_from(["{{", "}}", " ", "'", '"', "key", "trigger.run.args.", "trigger.partitions", "\0"]),
        max_size=8,
    ).map("".join),
    "number": st.integers(-30, 30) | st.floats(allow_nan=False, allow_infinity=False),
    "size": st.text(alphabet="0123456789KMGTiB ", max_size=8) | st.integers(),
    "country": st.sampled_from(
        ["US", "NY", "NYSE", "DE", "XX", "", "us", "datetime", "HolidayBase", "__init__"]
    ),
    "date": st.dates().map(str) | st.text(alphabet="0123456789-", max_size=10),
}


@given(st.data())
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_text_where_the_language_has_a_form_of_its_own(data: st.DataObject) -> None:
    text = SLOTS
    for name, values in NEARLY.items():
        while f"SLOT_{name}" in text:
            value = data.draw(values, label=name)
            text = text.replace(f"SLOT_{name}", json.dumps(value), 1)
    assert_sound(compile_files({"f.yaml": text.encode()}), text.encode())


@given(st.data())
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_a_good_file_with_a_piece_cut_out_or_doubled(data: st.DataObject) -> None:
    begin = data.draw(st.integers(0, len(FLIGHTS)))
    end = data.draw(st.integers(begin, min(len(FLIGHTS), begin + 200)))
    piece = data.draw(st.sampled_from([b"", FLIGHTS[begin:end] * 2, b"\n", b": ", b"[", b'"']))
    changed = FLIGHTS[:begin] + piece + FLIGHTS[end:]
    assert_sound(compile_files({"f.yaml": changed}), changed)


def assert_sound(compilation: Compilation, data: bytes) -> None:
    """Diagnostics point into the file and can be drawn; without an error there is an app."""
    lines = data.decode("utf-8", errors="replace").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for diagnostic in compilation.diagnostics:
        assert 1 <= diagnostic.at.line <= len(lines) + 1
        assert diagnostic.at.column >= 1
        assert diagnostic.end_column > diagnostic.at.column
        assert diagnostic.summary
        assert diagnostic.hint
    assert len(diagnostics_text(compilation.diagnostics)) >= len(diagnostics_json(compilation.diagnostics))
    assert compilation.ok == bool(compilation.apps)

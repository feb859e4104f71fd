"""A changed trigger is shown as YAML that a person could have written."""

from typing import Any

import pytest
import yaml

from tidegate.compiler.compile import compile_files
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.plan.diff import diff
from tidegate.compiler.render.diff_text import diff_text
from tidegate.compiler.render.trigger_yaml import MAX_LINES, yaml_lines
from tidegate.domain.model import App

APP = """\
app: a
calendars: {{ny: {{country: US}}}}
datasets:
  raw: {{partitions: {{cycle: day, start: 2013-01-01}}}}
programs: {{p: {{run: jobs.p, reads: [raw]}}, q: {{run: jobs.q}}}}
schedules:
  s:
    program: p
    trigger: {trigger}
"""
TRIGGERS = [
    '{cron: "0 6 * * *"}',
    '{cron: "@daily", timezone: Europe/Berlin, catch_up: none, calendar: ny, nth_business_day: -1}',
    "{partitions: {dataset: raw}, quiet: 10m, quiet_at_most: 1h}",
    "{partitions: {dataset: raw, count: 7, distinct: false}}",
    "{partitions: {dataset: raw, keys: [2026-03-09, 2026-03-10]}, wait_at_most: 3h}",
    "{size: {dataset: raw, bytes: 100GB}}",
    "{size: {dataset: raw, bytes: 1001}}",
    "{size: {dataset: raw, rows: 5}, collect_within: 1d}",
    "{run: {program: q, status: failed}}",
    "{elapsed: {for: 4h}}",
    "{elapsed: {for: 2h, since: last_event, dataset: raw}}",
    '{any: [{partitions: {dataset: raw}}, {cron: "0 6 * * *"}]}',
    '{all: [{partitions: {dataset: raw}, quiet: 1h}, {cron: "@daily"}, {run: {program: q, count: 9}}]}',
    "{at_least: {n: 1, of: [{partitions: {dataset: raw}}, {elapsed: {for: 4h}}]}, wait_at_most: 3h}",
    "{sequence: [{partitions: {dataset: raw}}, {any: [{elapsed: {for: 4h}}, {run: {program: q}}]}]}",
]


def compiled(trigger: str) -> App:
    found = compile_files({"a.yaml": APP.format(trigger=trigger).encode()})
    assert found.ok, found.diagnostics
    return found.models()["a"]


def as_texts(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_what_is_shown_is_the_trigger_as_it_was_written(trigger: str) -> None:
    spec = compiled(trigger).schedules["s"].trigger
    shown = yaml_lines(canonical(spec, defaults=True))
    assert as_texts("\n".join(shown)) == as_texts(trigger)
    again = compiled("\n" + "\n".join(f"      {line}" for line in shown) + "\n    ")
    assert canonical(again.schedules["s"].trigger) == canonical(spec)


def test_a_trigger_of_another_kind_is_shown_as_the_yaml_before_and_after() -> None:
    before, after = compiled('{cron: "0 6 * * *"}'), compiled(TRIGGERS[12])
    assert diff_text(diff({"a": before}, {"a": after})).splitlines()[2:9] == [
        "      trigger:",
        "        - cron: 0 6 * * *",
        "        + all:",
        "        +   - {partitions: {dataset: raw}, quiet: 1h}",
        "        +   - {cron: '@daily'}",
        "        +   - {run: {program: q, count: 9}}",
        "      -> stays suspended",
    ]


def test_one_number_of_a_trigger_is_one_line() -> None:
    before, after = (
        compiled("{partitions: {dataset: raw}}"),
        compiled("{partitions: {dataset: raw, count: 2}}"),
    )
    assert "trigger.count: 1 -> 2" in diff_text(diff({"a": before}, {"a": after}))


def test_keys_that_do_not_fit_a_line_are_not_cut() -> None:
    days = [f"2026-03-{day:02}" for day in range(1, 9)]
    before, after = (
        compiled(f"{{partitions: {{dataset: raw, keys: [{', '.join(keys)}]}}}}") for keys in (days[:7], days)
    )
    assert diff_text(diff({"a": before}, {"a": after})).splitlines()[2:18] == [
        "      trigger.keys:",
        *(f"        - - '{day}'" for day in days[:7]),
        *(f"        + - '{day}'" for day in days),
    ]


def test_a_long_trigger_is_cut() -> None:
    keys = ", ".join(f"2026-{month:02}-{day:02}" for month in (1, 2, 3) for day in range(1, 29))
    shown = yaml_lines(
        canonical(compiled(f"{{partitions: {{dataset: raw, keys: [{keys}]}}}}").schedules["s"].trigger)
    )
    assert (len(shown), shown[-1]) == (MAX_LINES + 1, "…")


def test_a_calendar_that_is_added_is_one_block() -> None:
    before, after = compiled('{cron: "@daily"}'), compiled('{cron: "@daily", calendar: ny}')
    lines = diff_text(diff({"a": before}, {"a": after})).splitlines()
    place = lines.index("      trigger.calendar:")
    assert lines[place + 1].startswith("        + ")


def test_a_text_is_shown_as_it_is() -> None:
    assert yaml_lines("3h") == ["3h"]

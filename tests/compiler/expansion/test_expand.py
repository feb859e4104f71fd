"""Templates and defaults: what the parts are, and that a mistake of many rows is one message."""

from collections.abc import Mapping
from typing import Any

import pytest

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.expansion import expand
from tidegate.compiler.reader.json_text import json_text
from tidegate.compiler.scope.project_files import files_of

HEAD = "app: feeds\nprograms:\n  load: {run: jobs.load}\n"

OF_CITIES = f"{HEAD}\ntemplates:\n  feeds:\n    for: {{city: [berlin, oslo]}}"
"""The parts of the template follow."""


def compiled(text: str, files: Mapping[str, str] | None = None, **options: Any) -> Compilation:
    read_file = files_of({path: rows.encode() for path, rows in (files or {}).items()})
    return compile_files({"feeds.yaml": text.encode()}, read_file=read_file, **options)


def document(text: str, files: Mapping[str, str] | None = None, **options: Any) -> dict[str, Any]:
    found = compiled(text, files, **options)
    assert found.ok, found.diagnostics
    return found.apps["feeds"].document


def said(text: str, files: Mapping[str, str] | None = None) -> list[str]:
    found = compiled(text, files)
    assert not found.apps
    return [f"{each.at.line}: {each.code} {each.summary}" for each in found.diagnostics]


def test_of_several_lists_the_last_varies_fastest_and_parts_follow_those_of_the_file() -> None:
    text = """
app: feeds
datasets: {own: {}}
templates:
  feeds:
    for: {city: [berlin, oslo], kind: [raw, clean]}
    datasets: {"${each.city}_${each.kind}": {}}
"""
    assert list(document(text)["datasets"]) == ["own", "berlin_raw", "berlin_clean", "oslo_raw", "oslo_clean"]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("${each.n}", 7),
        ('"${each.n}"', "007"),
        ("${each.n}5", 75),
        ("a ${each.n}", "a 007"),
        ("$${each.n}", "${each.n}"),
        ("$${each.n} ${each.n}", "${each.n} 007"),
        ("${each.yes}", True),
        ("${each.empty}", None),
        ('"${each.empty}"', ""),
        ("${each.reference}", "{{ key }}"),
        ("${each.itself}", "${each.n}"),
        ("${each.variable}", "${env.CITY}"),
        ("${env.CITY} ${each.n}", "oslo ${each.n} 007"),
        ('"{{ trigger.partitions.${each.raw} }}"', "{{ trigger.partitions.raw }}"),
        ("${other.n}", "${other.n}"),
    ],
)
def test_a_placeholder_has_the_rule_of_a_variable(written: str, value: Any) -> None:
    text = f"""
app: feeds
datasets: {{raw: {{partitions: {{cycle: day, start: 2026-01-01}}}}}}
programs: {{load: {{run: jobs.load, reads: [raw]}}}}
templates:
  feeds:
    for:
      n: [007]
      "yes": [true]
      empty: [""]
      reference: ["{{{{ key }}}}"]
      itself: ["$${{each.n}}"]
      variable: ["$${{env.CITY}}"]
      raw: [raw]
    schedules:
      load:
        program: load
        for_each: day
        trigger: {{partitions: {{dataset: raw}}}}
        args:
          it: {written}
"""
    variables = {"CITY": "oslo ${each.n}"}
    assert document(text, variables=variables)["schedules"]["load"]["args"]["it"] == value


def test_rows_of_a_file_may_have_more_columns_and_are_read_as_text() -> None:
    text = """
app: feeds
templates:
  shops:
    for: {rows: shops.csv}
    datasets: {"${each.shop}": {description: "${each.note} ${each.n}"}}
  cities:
    for: {rows: cities.yaml}
    datasets: {"${each.city}": {description: "${each.n}"}}
"""
    csv = '\ufeffshop,n,note,more\r\nnorth,007,"a ""b"", c",=1+1\r\nsouth,1.50,,\r\n\r\n'
    yaml = "- {city: oslo, n: 007}\n- {city: rome, n: 1.50, more: ~x}\n"
    found = document(text, {"shops.csv": csv, "cities.yaml": yaml})["datasets"]
    assert {name: part["description"] for name, part in found.items()} == {
        "north": 'a "b", c 007',
        "south": " 1.50",
        "oslo": "007",
        "rome": "1.50",
    }


def test_a_yaml_file_of_rows_among_the_files_is_not_an_app() -> None:
    text = 'app: feeds\ntemplates:\n  a:\n    for: {rows: rows.yaml}\n    datasets: {"${each.a}": {}}\n'
    rows = b"- {a: one}\n"
    files = {"a.yaml": text.encode(), "rows.yaml": rows}
    assert compile_files(files, read_file=files_of(files)).ok
    assert not compile_files({"rows.yaml": rows}).ok


def test_defaults_are_added_key_by_key_to_parts_of_the_file_and_of_templates() -> None:
    text = (
        OF_CITIES
        + """
    schedules:
      ${each.city}: {program: load, trigger: {cron: "0 6 * * *"}, alerts: {late: [chat]}}
schedules:
  own: {program: load, trigger: {cron: "0 6 * * *"}, owner: people}
defaults:
  schedules: {owner: feeds, alerts: {failed: [duty]}}
  programs: {timeout: 2h}
  tasks: {retries: 2}
"""
    )
    found = document(text)
    assert found["programs"]["load"]["timeout"] == "2h"
    schedules = found["schedules"]
    assert [schedules[name]["owner"] for name in ("own", "berlin", "oslo")] == ["people", "feeds", "feeds"]
    assert schedules["own"]["alerts"] == {"failed": ["duty"]}
    assert schedules["oslo"]["alerts"] == {"late": ["chat"]}
    assert "tasks" not in found


@pytest.mark.parametrize(
    ("part", "code", "summary"),
    [
        (
            "{program: load, onwer: x, trigger: {cron: '@daily'}}",
            "S101",
            'got "onwer" (feeds: n=0) and 999 more',
        ),
        ("{program: lode, trigger: {cron: '@daily'}}", "N302", 'got "lode" (feeds: n=0) and 999 more'),
        (
            '{program: "lode${each.n}", trigger: {cron: "@daily"}}',
            "N302",
            'got "lode0" (feeds: n=0) and 999 more',
        ),
        ("{program: load, trigger: {cron: '61 * * * *'}}", "V203", "(feeds: n=0) and 999 more"),
        ("{program: load, trigger: {}}", "S109", "(feeds: n=0) and 999 more"),
        ("{program: load}", "S103", "(feeds: n=0) and 999 more"),
    ],
)
def test_the_same_mistake_of_a_thousand_rows_is_one_message(part: str, code: str, summary: str) -> None:
    rows = "n\n" + "".join(f"{number}\n" for number in range(1000))
    template = f"  feeds:\n    for: {{rows: rows.csv}}\n    schedules:\n      s${{each.n}}: {part}\n"
    text = f"{HEAD}templates:\n{template}"
    (found,) = said(text, {"rows.csv": rows})
    assert found.startswith(f"8: {code} ")
    assert found.endswith(summary)


def test_a_mistake_of_one_row_names_that_row_alone() -> None:
    rows = "shop,retries,unused\nnorth,2,x\nsouth,many,y\n"
    text = f"{HEAD}templates:\n  shops:\n    for: {{rows: rows.csv}}\n    schedules:\n" + (
        "      ${each.shop}:\n        program: load\n        trigger: {cron: '@daily'}\n"
        "        retries: ${each.retries}\n"
    )
    (found,) = said(text, {"rows.csv": rows})
    assert found.startswith("11: S104")
    assert found.endswith('got "many" (shops: shop=south, retries=many)')


def test_a_wrong_default_is_one_message_at_its_line() -> None:
    rows = "n\n" + "".join(f"{number}\n" for number in range(100))
    text = f"""{HEAD}templates:
  feeds:
    for: {{rows: rows.csv}}
    schedules:
      s${{each.n}}: {{program: load, trigger: {{cron: "@daily"}}}}
schedules:
  own: {{program: load, trigger: {{cron: "@daily"}}}}
defaults:
  schedules: {{timeout: WRONG}}
"""
    for wrong, code in (("0s", "V201"), ("soon", "S106"), ("5", "S104")):
        (found,) = said(text.replace("WRONG", wrong), {"rows.csv": rows})
        assert found.startswith(f"12: {code} ")


def test_each_part_has_the_line_of_its_template() -> None:
    text = (
        OF_CITIES
        + """
    schedules:
      ${each.city}: {program: load, trigger: {cron: "0 6 * * *"}}
"""
    )
    schedules = compiled(text).models()["feeds"].schedules.values()
    assert [str(each.at) for each in schedules] == ["feeds.yaml:9:7"] * 2
    assert [each.at.row for each in schedules if each.at] == ["feeds: city=berlin", "feeds: city=oslo"]


def test_what_templates_make_has_a_limit_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        OF_CITIES
        + """
    datasets: {"${each.city}": {description: "${each.city}${each.city}"}}
defaults:
  datasets: {owner: feeds}
"""
    )
    assert compiled(text).ok
    monkeypatch.setattr(expand, "MAX_EXPANDED_NODES", 11)
    assert [each[:7] for each in said(text)] == ["10: R10"]
    monkeypatch.setattr(expand, "MAX_EXPANDED_NODES", 7)
    assert [each[:7] for each in said(text)] == ["7: R108"]
    monkeypatch.setattr(expand, "MAX_EXPANDED_CHARACTERS", 10)
    monkeypatch.setattr(expand, "MAX_EXPANDED_NODES", 12)
    assert [each[:7] for each in said(text)] == ["7: R108"]


def test_a_specification_has_templates_whose_values_have_types_but_no_rows() -> None:
    spec: dict[str, Any] = {
        "app": "feeds",
        "programs": {"load": {"run": "jobs.load"}},
        "templates": {
            "feeds": {
                "for": {"n": [2, 3]},
                "schedules": {
                    "s${each.n}": {
                        "program": "load",
                        "trigger": {"cron": "@daily"},
                        "retries": "${each.n}",
                        "args": {"text": "n ${each.n}", "itself": "$${each.n}"},
                    }
                },
            }
        },
    }
    found = compile_files({}, documents={"feeds": json_text(spec)}).apps["feeds"].document
    assert found["schedules"]["s3"]["retries"] == 3
    assert found["schedules"]["s3"]["args"] == {"text": "n 3", "itself": "${each.n}"}
    assert compile_files({}, documents={"feeds": json_text(found)}).apps["feeds"].document == found
    spec["templates"]["feeds"]["for"] = {"rows": "feeds.csv"}
    (wrong,) = compile_files({}, documents={"feeds": json_text(spec)}).diagnostics
    assert wrong.code == "R132"

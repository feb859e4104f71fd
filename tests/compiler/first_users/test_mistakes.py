"""The mistakes of first users: each is one message that has the place, what is wrong and what to write.

A row changes one place of `energy.yaml`. The place is where the marked text begins in the changed line.
"""

from pathlib import Path

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.rules.named_settings import NamedSettings, diagnose_named_settings

ENERGY = (Path(__file__).parent / "energy.yaml").read_text(encoding="utf-8")

ALL_OF_COMPLETE = "values here: day, hour, minute, month, week, year"
ROWS = [
    # (from, to, the marked text, code, what is wrong, what to write)
    (
        "dataset: raw_temps, complete",
        "dataset: raw_temp, complete",
        "raw_temp,",
        "N301",
        'got "raw_temp"',
        '"raw_temps"',
    ),
    (
        "writes: [temps]}",
        "writes: [temps], retries: 2}",
        "retries",
        "S101",
        'a program has no such key, got "retries"',
        "`retries` belongs to a schedule or a task",
    ),
    ('"30 6 * * mon-fri"', '"0 30 6 * * mon-fri"', '"0 30', "V203", "6 fields", 'write "30 6 * * mon-fri"'),
    ('"30 6 * * mon-fri"', '"0 30 6 ? * MON-FRI"', '"0 30', "V203", "6 fields", 'write "30 6 * * MON-FRI"'),
    ('"30 6 * * mon-fri"', "every 10 minutes", "every", "V203", "3 of 5 fields", 'write "*/10 * * * *"'),
    (
        "  each_day:\n",
        "  each_day:\n    depends_on: each_hour\n",
        "depends_on",
        "S101",
        'a schedule has no such key, got "depends_on"',
        "`depends_on` belongs to a task; a schedule waits by its trigger",
    ),
    ("for_each: day\n", "for_each: daily\n", "daily", "S105", 'got "daily"', 'did you mean "day"?'),
    ("wait_at_most: 3h", "wait_at_most: 3 hours", "3 hours", "S106", "must be a duration", "write 3h"),
    ("complete: hour", "complete: city", "city", "S105", "`complete` must be minute, hour", ALL_OF_COMPLETE),
    ("timezone: America/Los_Angeles", "timezone: PST", "PST", "V202", 'got "PST"', '"America/Los_Angeles"?'),
    (
        '{cron: "30 6 * * mon-fri", calendar: exchange}',
        '[{cron: "30 6 * * mon-fri"}, {cron: "@daily"}]',
        "[{cron",
        "S104",
        "`trigger` must be a mapping, got a list",
        "make them members of `all: [...]` or `any: [...]`",
    ),
    ("all: [", "and: [", "and", "S101", 'a trigger has no such key, got "and"', 'did you mean "all"?'),
    ("any: [{size", "or: [{size", "or", "S101", 'a trigger has no such key, got "or"', 'did you mean "any"?'),
    ("all: [", "not: [", "not", "S101", 'a trigger has no such key, got "not"', ""),
    ("group: spark}", "group: sparks}", "sparks", "N303", 'got "sparks"', 'did you mean "spark"?'),
    ('deadline: "08:00"', "deadline: 8am", "8am", "V201", "a deadline is a time of the day", 'write "08:00"'),
    (
        "status: active\n  each_day",
        "enabled: true\n  each_day",
        "enabled",
        "S101",
        'a schedule has no such key, got "enabled"',
        "write `status: active` or `status: suspended`",
    ),
    (
        "run: programs.clean_temps",
        "run: programs/clean_temps.py",
        "programs/",
        "S106",
        "the dotted path of a function",
        "write programs.clean_temps",
    ),
    (
        "write: append}\n  inc",
        "write: overwrite}\n  inc",
        "overwrite",
        "S105",
        'got "overwrite"',
        '"overwrite_partitions"?',
    ),
    (
        "start: 2026-11-20-00:00}\n      city",
        "start: 2026-11-20 00:00}\n      city",
        "2026-11-20 00:00",
        "V205",
        'start "2026-11-20 00:00" of "hour" is not a date',
        "such as 2026-11-20-00:00",
    ),
    (
        "path: landing/ohlc",
        "path: /data/ohlc",
        "/data",
        "V207",
        "a path is relative",
        "set `paths_from` in [warehouse] of tidegate.toml",
    ),
    (
        "program: clean_temps\n",
        "\tprogram: clean_temps\n",
        "\t",
        "R105",
        "a tab is not allowed",
        "use spaces",
    ),
    (
        "temps_of_day: {partitions: {cycle: day, start: 2026-11-20}}",
        "temps_of_day: {partitions: daily}",
        "daily",
        "S104",
        "`partitions` must be a mapping",
        "write for example {cycle: day, start:",
    ),
    (
        "prices: {write: append}",
        "prices: {}",
        "prices]",
        "L415",
        "prices must keep its rows, got `write: full`",
        "write append or merge",
    ),
    (
        "program: clean_temps, status",
        "schedule: each_hour, status",
        "schedule",
        "S101",
        'a run trigger has no such key, got "schedule"',
        'did you mean "program"?',
    ),
    (
        "writes: [temps_of_day]",
        "writes: [demand]",
        "demand: {run",
        "L405",
        'got "demand" from day_of_temps and demand; day_of_temps, the first by name, owns it',
        "let demand write a dataset of its own",
    ),
]


def found_in(text: str):
    """Return the diagnostics of a changed file, without the warning that the file has unchanged."""
    known = {each.code for each in compile_files({"energy.yaml": ENERGY.encode()}).diagnostics}
    assert known == {"L447"}
    found = compile_files({"energy.yaml": text.encode()}).diagnostics
    return [each for each in found if each.code not in known]


@pytest.mark.parametrize(
    ("right", "wrong", "mark", "code", "summary", "hint"), ROWS, ids=[row[1].strip()[:40] for row in ROWS]
)
def test_a_mistake_is_one_message_with_place_fault_and_remedy(right, wrong, mark, code, summary, hint):
    assert right in ENERGY
    text = ENERGY.replace(right, wrong, 1)

    (found,) = found_in(text)

    assert found.code == code
    assert found.source[found.at.column - 1 :].startswith(mark)
    begins = ENERGY.index(right) + (wrong.index(mark) if mark in wrong else 0)
    assert found.at.line == text.count("\n", 0, begins) + 1 or code in ("L405", "L415")
    assert summary in found.summary
    assert hint in found.hint
    assert bool(found.hint) == bool(hint)


def test_an_unquoted_time_is_a_time():
    assert not found_in(ENERGY.replace('{from: "22:00", to: "06:00"}', "{from: 22:00, to: 06:00}"))


def test_an_unknown_channel_names_the_channels():
    text = ENERGY.replace("[chat]", "[slack]")
    root = compile_files({"energy.yaml": text.encode()}).apps["energy"].root
    known = NamedSettings(channels=frozenset({"chat"}))
    (found,) = diagnose_named_settings(root, known, "energy.yaml", text)
    assert (found.code, found.at.line, found.at.column) == ("N319", 5, 10)
    assert 'got "slack"' in found.summary
    assert found.hint == "channels here: chat"

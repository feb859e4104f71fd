"""Wrong usage of the command line ends with 64 in every command, and never with 2, the code of changes."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, get_args

import pytest
from typer.testing import CliRunner

from tests.tidegate.cli.walk import Path, every_command, is_group
from tests.tidegate.project import Project
from tidegate.cli import main as frame

pytestmark = pytest.mark.slow  # whole commands

COMMANDS = dict(every_command())
TOO_LARGE = "9" * 30
"""More than any store keeps."""


def test_most_options_with_numbers_and_words_are_known() -> None:
    """The options are read from the command line library, whose form may change."""
    assert _is_checked(next(each for each in COMMANDS["report",].params if each.name == "rows"))
    assert all(
        any(map(_is_checked, command.params))
        for command in COMMANDS.values()
        if any(each.name == "format" for each in command.params)
    )


def wrong_calls(path: Path) -> Iterator[list[str]]:
    """Yield calls of a command that mean nothing: unknown options, missing or surplus words, bad values."""
    yield [*path, "--no-such-option"]
    command = COMMANDS[path]
    if is_group(command):
        yield [*path]
        yield [*path, "no-such-command"]
        return
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    if any(each.required for each in arguments):
        yield [*path]
    if not any(each.nargs == -1 for each in arguments):
        yield [*path, *("word" for _ in arguments), "one-too-many"]
    for option in command.params:
        if option.param_type_name != "option" or getattr(option, "is_flag", False):
            continue
        if option.opts[-1] != frame.LOCATIONS_OPTION:  # Its value may be left out.
            yield [*path, option.opts[-1]]
        if _is_checked(option):
            yield [*path, f"{option.opts[-1]}=no-such-value"]
        if _is_whole_number(option):
            yield [*path, f"{option.opts[-1]}={TOO_LARGE}"]
    if arguments and any(map(_is_whole_number, arguments)):
        yield [*path, *(TOO_LARGE if _is_whole_number(each) else "word" for each in arguments)]


def _is_checked(option: Any) -> bool:
    """Return whether the values of an option are numbers or words of a list."""
    return any(issubclass(each, int | float | Enum) for each in _types(option))


def _is_whole_number(parameter: Any) -> bool:
    return any(issubclass(each, int) and not issubclass(each, bool | Enum) for each in _types(parameter))


def _types(parameter: Any) -> list[type]:
    kind = parameter.type_descriptor.annotation
    return [each for each in (kind, *get_args(kind)) if isinstance(each, type)]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_wrong_usage_ends_with_64(path: Path) -> None:
    for call in wrong_calls(path):
        result = CliRunner().invoke(frame.application, call)
        assert result.exit_code == 64, (call, result.output)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("no-such-command",),
        ("--no-such-option",),
        ("jobs", "requeue"),
        ("jobs", "requeue", "x", "--all-dead-letters"),
        ("report", "orders", "--key", "2026-03-09", "--at", "noon"),
        ("why", "report_daily", "--at", "2026-03-09T00:00:00"),
        ("events", "replay", "orders", "--from", "yesterday"),
        ("store", "export", "--to", "journal.jsonl", "--since", "yesterday"),
        ("explain", "W-MOON"),
    ],
)
def test_values_without_a_meaning_end_with_64_too(
    deployed: Project, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.argv", ["tidegate", *arguments])

    with pytest.raises(SystemExit) as ended:
        frame.main()

    assert ended.value.code == 64


def test_what_is_refused_for_another_reason_keeps_its_code(
    deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes: dict[str, object] = {}
    for arguments in ("why no_such_schedule", "jobs show no-such-job", "plan", "doctor", "version"):
        monkeypatch.setattr("sys.argv", ["tidegate", *arguments.split()])
        with pytest.raises(SystemExit) as ended:
            frame.main()
        codes[arguments] = ended.value.code or 0

    assert codes == {
        "why no_such_schedule": 1,
        "jobs show no-such-job": 1,
        "plan": 0,
        "doctor": 1,
        "version": 0,
    }

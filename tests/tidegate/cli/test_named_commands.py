"""Every command that a page or a message names exists, with the options that it is given.

A line of a shell block is parsed as the command line parses it, without being carried out. Of a command in
backticks, in a page or in a string of the product, the words and the names of its options are looked up.
"""

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tidegate.cli.walk import every_command, is_group
from tests.tidy.links import FENCED, without_code

pytestmark = pytest.mark.slow  # whole commands

ROOT = Path(__file__).parents[3]
PAGES = ("README.md", *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")))
COMMANDS = dict(every_command())
OF_ALL = frozenset({"--help", "--env"})

SHELL = re.compile(r"^ *```(?:|sh|shell|bash|console)\n")
CALL = re.compile(r"(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?tidegate (.*)")
NAMED = re.compile(r"`(?:\.venv/bin/)?tidegate ([a-z][^`]*)`")
END_OF_CALL = re.compile(r"\s[|>&;#]")
CALLS_AT_LEAST = 15


def called(page: str) -> Iterator[str]:
    """Yield the calls in the shell blocks of a page, each without the name of the program."""
    for block in FENCED.finditer((ROOT / page).read_text("utf-8")):
        if SHELL.match(block.group()):
            for line in block.group().replace("\\\n", " ").splitlines():
                if (found := CALL.fullmatch(line.strip().removeprefix("$ "))) is not None:
                    yield END_OF_CALL.split(found[1])[0]


def named(text: str) -> Iterator[str]:
    """Yield the calls in backticks."""
    return (found[1].replace("\n", " ") for found in NAMED.finditer(text))


def strings(source: str) -> Iterator[str]:
    """Yield the strings of a Python file; what an f-string fills in is the word `FILLED`."""
    tree = ast.parse(source)
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts |= {id(part) for part in node.values}
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "FILLED" for part in node.values
            )
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            yield node.value


def command_of(words: list[str]) -> tuple[Any, list[str]]:
    """Return the command that the first words name, and the words after these; None if there is none."""
    count = next((n for n in range(len(words), 0, -1) if tuple(words[:n]) in COMMANDS), 0)
    return COMMANDS.get(tuple(words[:count])), words[count:]


def fault(call: str) -> str | None:
    """Return why a named call cannot be meant."""
    try:
        words = shlex.split(END_OF_CALL.split(call)[0])
    except ValueError:
        return "its quotes do not close"
    command, rest = command_of(words)
    if command is None:
        return "no such command"
    if is_group(command) and rest and re.fullmatch(r"[a-z][a-z-]*", rest[0]):
        return f"no command {rest[0]} in that group"
    known = OF_ALL | {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    unknown = [word for word in rest if word.startswith("--") and word.split("=")[0].rstrip("]") not in known]
    return f"no option {unknown[0]}" if unknown and not is_group(command) else None


@pytest.mark.parametrize("page", PAGES)
def test_calls_in_the_shell_blocks_of_a_page_are_understood(page: str) -> None:
    for call in called(page):
        assert (found := fault(call)) is None, f"tidegate {call}: {found}"
        command, rest = command_of(shlex.split(call))
        if not is_group(command):
            assert command.make_context("tidegate", list(rest)).params.keys() == {
                each.name for each in command.params if each.expose_value
            }


@pytest.mark.parametrize("page", PAGES)
def test_commands_that_a_page_names_exist(page: str) -> None:
    text = without_code((ROOT / page).read_text("utf-8"))
    assert [(call, found) for call in named(text) if (found := fault(call))] == []


def test_commands_that_messages_and_docstrings_name_exist() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), call): why
        for path in sorted((ROOT / "tidegate").rglob("*.py"))
        for text in strings(path.read_text("utf-8"))
        for call in named(text)
        if (why := fault(call)) is not None
    }
    assert found == {}


def test_pages_that_messages_and_docstrings_name_exist() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), page)
        for path in sorted((ROOT / "tidegate").rglob("*.py"))
        for text in strings(path.read_text("utf-8"))
        for page in re.findall(r"(?<!/)docs/([a-z-]+)\.md|tidegate docs ([a-z-]+)(?!/)\b", text)
        if not (ROOT / "docs" / f"{page[0] or page[1]}.md").is_file()
    }
    assert found <= {("tidegate/cli/develop/reference.py", ("", "adr"))}, "the records are pages of a folder"


def test_calls_are_found_and_faults_in_them() -> None:
    assert sum(1 for page in PAGES for _ in called(page)) > CALLS_AT_LEAST
    assert [*named("see `tidegate why X --at T`, `.venv/bin/tidegate lint`")] == ["why X --at T", "lint"]
    assert [*strings('x = f"run `tidegate why {job}`"')] == ["run `tidegate why FILLED`"]
    assert fault("jobs list --state FAILED") is None
    assert fault("suspend flights/load") == "no such command"
    assert fault("schedules dismiss flights/load") == "no command dismiss in that group"
    assert fault("why flights/load --when now") == "no option --when"
    assert fault("report 'orders") == "its quotes do not close"

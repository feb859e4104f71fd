"""Rules on the shape of files: names, docstrings, lengths, leftovers and unexplained suppressions."""

import ast
import re
from collections.abc import Iterator

from tests.tidy.finding import Finding, Source

MAX_FILE_LINES = 350
MAX_FUNCTION_LINES = 70
MAX_LINE_CHARS = 110
MIN_REASON_CHARS = 10

VAGUE_NAMES = frozenset(
    {"util", "utils", "common", "helper", "helpers", "manager", "managers", "misc", "base", "tools"}
)
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
SUPPRESSION = re.compile(
    r"#\s*(?:noqa|type:\s*ignore|pyright:\s*ignore|pragma:\s*no cover)"
    r"(?::?\s*[A-Z]+\d+(?:\s*,\s*[A-Z]+\d+)*|\[[^\]]*\])?(?P<reason>.*)"
)


def check_shape(source: Source) -> Iterator[Finding]:
    """Every breach of these rules in one file."""
    yield from _name(source)
    yield from _docstring(source)
    yield from _lengths(source)
    yield from _comments(source)
    if source.package == "tests":
        yield from _skipped_tests(source)


def _name(source: Source) -> Iterator[Finding]:
    for part in source.path.removesuffix(".py").split("/"):
        if part.removeprefix("test_") in VAGUE_NAMES:
            yield source.finding(1, f'"{part}" says nothing; name the file after the noun it defines')


def _docstring(source: Source) -> Iterator[Finding]:
    if source.text.strip() and ast.get_docstring(source.tree) is None:
        yield source.finding(1, "no docstring; say what the module is and where it sits")


def _lengths(source: Source) -> Iterator[Finding]:
    if len(source.lines) > MAX_FILE_LINES:
        yield source.finding(
            MAX_FILE_LINES + 1,
            f"{len(source.lines)} lines, at most {MAX_FILE_LINES}; what is the second idea?",
        )
    for number, line in enumerate(source.lines, 1):
        if len(line) > MAX_LINE_CHARS:
            yield source.finding(number, f"{len(line)} characters, at most {MAX_LINE_CHARS}")
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            if length > MAX_FUNCTION_LINES:
                yield source.finding(
                    node.lineno, f"{node.name}() has {length} lines, at most {MAX_FUNCTION_LINES}"
                )


def _comments(source: Source) -> Iterator[Finding]:
    for line, comment in source.comments:
        if (leftover := LEFTOVER.search(comment)) is not None:
            yield source.finding(line, f"a leftover {leftover[1]}; do it or delete it")
        suppression = SUPPRESSION.search(comment)
        if suppression is not None and len(suppression["reason"].strip(" -:#")) < MIN_REASON_CHARS:
            yield source.finding(line, f'"{comment}" without its reason beside it')


def _skipped_tests(source: Source) -> Iterator[Finding]:
    for node in source.nodes:
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("skip", "skipif", "xfail", "importorskip")
            and ast.unparse(node.value) in ("pytest", "pytest.mark")
        ):
            yield source.finding(node.lineno, f"pytest's {node.attr}; a test runs or is deleted")

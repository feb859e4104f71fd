"""A rule on the private parts of Dagster: they are in one folder, with what, why and since which version."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from tests.tidy.finding import Finding, Source

ROOM = "tidegate/dagster_defs/internals/"
PRODUCT = "tidegate/"
TESTS = ("tests/", "benchmarks/")
"""They may import for themselves what the product does not need, such as Dagster's own helpers for tests."""

PRIVATE = re.compile(r"\bdagster(?:_\w+)?\._\w|\bdagster_shared\b")
SINCE = re.compile(r"^Since: Dagster \d+\.\d+", re.MULTILINE)


def check_internals(sources: Iterable[Source]) -> Iterator[Finding]:
    """Yield private parts of Dagster outside of their folder, and what its files do not say."""
    found = tuple(source for source in sources if source.path.startswith(ROOM) or PRIVATE.search(source.text))
    homes = {name: source.path for source in found if source.path.startswith(ROOM) for name in _names(source)}
    for source in found:
        if source.path.startswith(ROOM):
            yield from _check_need(source)
        elif source.path.startswith(PRODUCT):
            yield from _check_product(source)
        elif source.path.startswith(TESTS):
            yield from _check_test(source, homes)


def _names(source: Source) -> Iterator[str]:
    for node in source.tree.body:
        if isinstance(node, ast.ImportFrom) and PRIVATE.search(f"{node.module}"):
            yield from (alias.name for alias in node.names)


def _check_need(source: Source) -> Iterator[Finding]:
    text = ast.get_docstring(source.tree) or ""
    if not source.path.endswith("__init__.py") and ("\nWhy: " not in text or not SINCE.search(text)):
        yield source.finding(1, "says what it has, then `Why: …` and `Since: Dagster 1.N …`")
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and f"{node.module}".startswith("tidegate"):
            yield source.finding(node.lineno, "imports our own; this folder is below all others")


def _check_product(source: Source) -> Iterator[Finding]:
    for number, line in enumerate(source.lines, start=1):
        if PRIVATE.search(line):
            yield source.finding(number, f"names a private part of Dagster; take it from a file of {ROOM}")


def _check_test(source: Source, homes: Mapping[str, str]) -> Iterator[Finding]:
    for node in source.nodes:
        if isinstance(node, ast.ImportFrom) and PRIVATE.match(f"{node.module}"):
            for alias in node.names:
                if alias.name in homes:
                    yield source.finding(node.lineno, f"take {alias.name} from {homes[alias.name]}")

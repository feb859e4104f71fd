"""Rules on English: the words of our first dialect, which cost each reader a translation.

A page is searched whole. Of a Python file its docstrings, comments and strings are searched.
Code between backticks is left alone.
"""

import ast
import re
from collections.abc import Iterator

from tests.tidy.finding import Finding, Source
from tests.tidy.links import without_code

LISTS = ("tests/tidy/english.py", "tests/test_tidy.py")
"""Where the words themselves are written."""

INSTEAD = {
    r"told|tells? (?:of|that|it)": "said, reported, shown",
    r"stands?|stood": "is, exists, is written",
    r"anew": "again",
    r"somebody|someone": "a person, or the role",
    r"nobody|no one": "no process, no person, or the passive",
    r"whoever": "the process that, any process that",
    r"lets? go|let go of": "releases",
    r"(?:is|are|was|were) no(?! longer\b| more\b| less\b)": "is not a, there is no",
    r"for ever": "forever, without end",
    r"given up|gives? up|gave up": "discarded, abandoned, released",
    r"mends?|mended": "repair",
    r"at hand": "available",
    r"makes? up for": "catches up",
    r"in the midst of": "during",
    r"beforehand": "before",
    r"the dead(?! letter)": "the dead process",
    r"come to nothing|comes to nothing|came to nothing": "fails",
}
"""Expressions, and what to write instead."""

THERE = re.compile(r"(?<=\bthere )(?:is|are|was|were) no", re.IGNORECASE)
CODE = re.compile(r"`[^`\n]*`|\]\([^)\s]*\)|<[^>\s]*>")
FIRST = "".join({first for words in INSTEAD for first in re.findall(r"(?:^|[|:])(\w)", words)})
WORDS = re.compile(
    rf"\b(?=[{FIRST}])(?:"
    + "|".join(rf"(?P<w{index}>(?:{words})\b)" for index, words in enumerate(INSTEAD))
    + ")",
    re.IGNORECASE,
)
"""With the letters with which they begin, so that other words are passed over in one step."""

HINTS = tuple(INSTEAD.values())


def check_english(path: str, text: str, first_line: int = 1) -> Iterator[Finding]:
    """Words of the list in a text.

    Args:
        first_line: line of the file in which the text begins.
    """
    plain = CODE.sub(lambda code: " " * len(code.group()), text)
    plain = THERE.sub(lambda found: "x" * len(found.group()), plain)
    for found in WORDS.finditer(plain):
        hint = HINTS[int((found.lastgroup or "w0")[1:])]
        line = first_line + plain.count("\n", 0, found.start())
        yield Finding(path=path, line=line, message=f'"{found.group()}": write {hint}')


def check_page(path: str, text: str) -> Iterator[Finding]:
    """Words of the list in a page of the documentation or a YAML file; fenced blocks are left alone."""
    yield from check_english(path, without_code(text))


def check_source(source: Source) -> Iterator[Finding]:
    """Words of the list in the docstrings, comments and strings of a Python file."""
    for line, comment in source.comments:
        yield from check_english(source.path, comment, line)
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from check_english(source.path, node.value, node.lineno)

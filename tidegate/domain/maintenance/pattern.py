"""Patterns: which tables a policy is for (docs/language.md, "Policies").

    warehouse.analytics.orders      catalog, namespace, table; further dots belong to the table
    analytics.orders                any catalog
    orders                          any catalog and namespace
    *.staging.tmp_?                 globs: `*` is any number of characters, `?` is one
    warehouse./(raw|clean)_.*/.*    a regex in place of a component
    /warehouse\\.(raw|clean)\\..*/    a regex in place of the whole name
    flights/delays                  a dataset, as app/dataset

A dataset is also matched by its catalog name, "tidegate.app.dataset", whatever its format.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache

from tidegate.domain.error import UserError
from tidegate.domain.maintenance.regex import Regex
from tidegate.domain.maintenance.regex_program import RegexError
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

MAX_PATTERN_CHARACTERS = 256

PATTERNS_KEPT = 4_096
"""Parsed patterns, their lists, and names that are kept: those of a large store are used again and again."""

NAMES_KEPT = 65_536

_ANY, _GLOB, _EXACT = 0, 1, 2

_DATASET = re.compile(r"[a-z][a-z0-9_]{0,62}/[a-z][a-z0-9_]{0,62}")

_HINT = "write for example warehouse.analytics.*, analytics.orders or flights/delays"

Specificity = tuple[int, int, int]
"""Of catalog, namespace and table: 2 for a name, 1 for a glob or regex, 0 for any. The greater one counts."""

Names = tuple[str, str, str]
"""Catalog, namespace and table."""

Test = Callable[[str], object]
"""Whether a component matches; what it returns is used as a truth value."""


class PatternError(UserError, ValueError):
    """A text that is not a pattern."""


class Pattern(Value, kw_only=True):
    """One pattern.

    Attributes:
        exact: each component that is written is a name; so one that matches nothing is most likely a mistake.
        dataset: "app/dataset", if it is one.
        tests: of the components that must match, with their place in the name; exact ones first.
        whole: of the whole catalog name.
    """

    text: str
    specificity: Specificity
    exact: bool = False
    dataset: str | None = None
    tests: tuple[tuple[int, Test], ...] = ()
    whole: Test | None = None

    def matches_names(self, catalog_name: str, names: Names) -> bool:
        """Return whether a catalog name, which is also given in parts, matches a pattern of such names."""
        if self.whole is not None:
            return bool(self.whole(catalog_name))
        for place, test in self.tests:  # noqa: SIM110 - a generator takes twice as long
            if not test(names[place]):
                return False
        return True


def best_match(patterns: Sequence[str], catalog_name: str, dataset: str | None = None) -> Specificity | None:
    """Return the specificity of the most specific of some patterns that matches a table; None if none does.

    Args:
        patterns: each of them a pattern, as lint has checked.
        catalog_name: "catalog.namespace.table"; "" for a dataset that is in no catalog.
        dataset: "app/dataset", for the table of a dataset.
    """
    ranked = _ranked(tuple(patterns))
    if dataset in ranked.exact or catalog_name in ranked.exact:
        return (_EXACT, _EXACT, _EXACT)
    if not catalog_name:
        return None
    names = _names(catalog_name)
    for pattern in ranked.others:
        if pattern.matches_names(catalog_name, names):
            return pattern.specificity
    return None


class _Ranked(Value, kw_only=True):
    """A list of patterns: those that are one name, and all others, the most specific first."""

    exact: frozenset[str | None]
    others: tuple[Pattern, ...]


@lru_cache(maxsize=PATTERNS_KEPT)
def _ranked(patterns: tuple[str, ...]) -> _Ranked:
    parsed = sorted(map(parse_pattern, patterns), key=lambda each: each.specificity, reverse=True)
    exact = [each for each in parsed if min(each.specificity) == _EXACT]
    return _Ranked(exact=frozenset(each.text for each in exact), others=tuple(parsed[len(exact) :]))


@lru_cache(maxsize=NAMES_KEPT)
def _names(catalog_name: str) -> Names:
    catalog, namespace, table = ("", "", *catalog_name.split(".", 2))[-3:]
    return catalog, namespace, table


@lru_cache(maxsize=PATTERNS_KEPT)
def parse_pattern(text: str) -> Pattern:
    """Return the pattern of a text.

    Raises:
        PatternError: it is not a pattern.
    """
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise PatternError(
            f"a pattern has at most {MAX_PATTERN_CHARACTERS} characters, got {len(text)}",
            "split it into several patterns of a list",
        )
    if _DATASET.fullmatch(text):
        exact: Specificity = (_EXACT, _EXACT, _EXACT)
        return Pattern(text=text, specificity=exact, exact=True, dataset=text)
    if _end_of_regex(text, 0) == len(text):
        return Pattern(text=text, specificity=(_GLOB, _GLOB, _GLOB), whole=_regex(text))
    parts = [_component(part, text) for part in _split(text)]
    padded = [*([(_ANY, None)] * (3 - len(parts))), *parts]
    catalog, namespace, table = (rank for rank, _ in padded)
    tests = [(rank, place, test) for place, (rank, test) in enumerate(padded) if test is not None]
    tests.sort(key=lambda each: each[0], reverse=True)
    return Pattern(
        text=text,
        specificity=(catalog, namespace, table),
        exact=all(rank == _EXACT for rank, _ in parts),
        tests=tuple((place, test) for _, place, test in tests),
    )


def _split(text: str) -> list[str]:
    """Return the components of a pattern, at most three: further dots belong to the table."""
    found: list[str] = []
    start = 0
    while len(found) < 2:
        regex = _end_of_regex(text, start)
        end = text.find(".", start) if regex is None else regex
        if end in (-1, len(text)):
            break
        if text[end] != ".":
            raise PatternError(
                f"a regex is a whole component of a pattern, got {shown(text)}",
                "write a dot behind it; a slash within a regex is written \\/",
            )
        found.append(text[start:end])
        start = end + 1
    return [*found, text[start:]]


def _end_of_regex(text: str, start: int) -> int | None:
    """Return the place behind the regex that begins at a place; None if none begins there.

    Raises:
        PatternError: it does not end.
    """
    if not text.startswith("/", start):
        return None
    place = start + 1
    while place < len(text):
        if text[place] == "/":
            return place + 1
        place += 2 if text[place] == "\\" else 1
    raise PatternError(
        f"a regex of a pattern ends with a slash, got {shown(text[start:])}",
        "write the second slash; a slash within a regex is written \\/",
    )


def _component(part: str, text: str) -> tuple[int, Test | None]:
    if part == "*":
        return _ANY, None
    if _end_of_regex(part, 0) == len(part) and part:
        return _GLOB, _regex(part)
    if "/" in part:
        raise PatternError(
            f"a slash encloses a regex, or separates an app and its dataset, got {shown(text)}",
            "a dataset is named as app/dataset or ns/app/dataset, without wildcards; " + _HINT,
        )
    if not all(part.split(".")):
        raise PatternError(f"no component of a pattern is empty, got {shown(text)}", _HINT)
    if part != part.strip():
        raise PatternError(
            f"no component of a pattern begins or ends with a space, got {shown(text)}", "delete the space"
        )
    return (_GLOB, _glob(part)) if "*" in part or "?" in part else (_EXACT, part.__eq__)


def _regex(part: str) -> Test:
    try:
        return Regex(part[1:-1]).matches
    except RegexError as error:
        raise PatternError(error.message, error.hint) from error


def _glob(part: str) -> Test:
    """Return the test of a glob.

    What is between two `*` is looked for once, as far to the left as possible, and never again (`(?>…)`):
    that finds every match, and takes no longer than the name is long.
    """
    first, *others = [
        "".join("." if sign == "?" else re.escape(sign) for sign in text) for text in part.split("*")
    ]
    if not others:
        return re.compile(first, re.DOTALL).fullmatch
    *middle, last = others
    between = "".join(f"(?>.*?{text})" for text in middle if text)
    return re.compile(f"{first}{between}.*{last}", re.DOTALL).fullmatch

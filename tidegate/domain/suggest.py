"""Hints for unknown names and keys: "did you mean", or the list of known words."""

import difflib
from collections.abc import Iterable

MAX_LISTED_WORDS = 12
"""A hint that lists more words is not read."""

LIKENESS = 0.6
"""The ratio of difflib from which two words are alike: its default, which suits short names."""

MAX_COMPARED_WORDS = 500
"""difflib takes some microseconds for each word; with more words a hint only lists them."""

MAX_COMPARED_CHARACTERS = 80
"""Longer words are not compared: difflib's cost grows with the square of the length."""


OPPOSITES = tuple(
    frozenset(pair.split())
    for pair in (
        "and any",
        "or all",
        "min max",
        "least most",
        "least latest",
        "most latest",
        "older newer",
        "oldest newest",
        "small large",
        "disabled enabled",
        "disable enable",
        "before after",
    )
)
"""Words that look alike and mean the opposite, or another thing: one is never a hint for the other."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`; None if no word is alike."""
    if len(word) > MAX_COMPARED_CHARACTERS:
        return None
    by_folded = {_folded(k): k for k in known if not _opposite(word, k)}
    found = difflib.get_close_matches(_folded(word), by_folded, n=1, cutoff=LIKENESS)
    return by_folded[found[0]] if found else None


def _folded(word: str) -> str:
    return word.lower().replace("-", "_")


def _opposite(word: str, other: str) -> bool:
    """Return whether the words differ in a part that says the opposite."""
    return frozenset(_folded(word).split("_")) ^ frozenset(_folded(other).split("_")) in OPPOSITES


def did_you_mean(word: str, known: Iterable[str], what: str, *, whole: bool = False) -> str:
    """Return a hint: the closest known word, else the list of known words.

    Args:
        what: plural noun for the words, for example "datasets".
        whole: the words are of the language, not of a person: the list is not cut, since the wanted one may
            be in the part that is left out.
    """
    words = sorted(known)
    if not words:
        return f"no {what} are declared: declare it first, or leave it out"
    near = closest(word, words) if len(words) <= MAX_COMPARED_WORDS else None
    if near is not None:
        return f'did you mean "{near}"?'
    more = 0 if whole else max(0, len(words) - MAX_LISTED_WORDS)
    tail = f" and {more} more" if more else ""
    return f"{what} here: {', '.join(words[: len(words) - more])}{tail}"

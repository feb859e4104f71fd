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


def closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like `word`; None if no word is alike."""
    if len(word) > MAX_COMPARED_CHARACTERS:
        return None
    by_folded = {k.lower().replace("-", "_"): k for k in known}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), by_folded, n=1, cutoff=LIKENESS)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], what: str) -> str:
    """Return a hint: the closest known word, else the list of known words.

    Args:
        what: plural noun for the words, for example "datasets".
    """
    words = sorted(known)
    if not words:
        return f"no {what} are declared: declare it first, or leave it out"
    near = closest(word, words) if len(words) <= MAX_COMPARED_WORDS else None
    if near is not None:
        return f'did you mean "{near}"?'
    more = len(words) - MAX_LISTED_WORDS
    tail = f" and {more} more" if more > 0 else ""
    return f"{what} here: {', '.join(words[:MAX_LISTED_WORDS])}{tail}"

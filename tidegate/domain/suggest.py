"""Did you mean: the known word that an unknown one was most likely meant to be.

Used by every diagnostic that refuses a name or a key. It never decides anything; it only
words a hint.
"""

import difflib
from collections.abc import Iterable

MAX_LISTED_WORDS = 12
"""A hint that lists more words than this is not read."""

LIKENESS = 0.6
"""difflib's ratio from which two words count as alike; its own default, which suits short names."""

MAX_COMPARED_WORDS = 500
"""difflib takes some microseconds for each; beyond this a hint lists words instead."""

MAX_COMPARED_CHARACTERS = 80
"""Longer words are not compared: difflib's cost grows with the square of the length."""


def closest(word: str, known: Iterable[str]) -> str | None:
    """The known word most like `word`, or None if none is alike."""
    if len(word) > MAX_COMPARED_CHARACTERS:
        return None
    by_folded = {k.lower().replace("-", "_"): k for k in known}
    found = difflib.get_close_matches(word.lower().replace("-", "_"), by_folded, n=1, cutoff=LIKENESS)
    return by_folded[found[0]] if found else None


def did_you_mean(word: str, known: Iterable[str], what: str) -> str:
    """A hint: the closest known word, else the list of them.

    Args:
        what: what the words name, in the plural, for example "datasets".
    """
    words = sorted(known)
    if not words:
        return f"there are no {what} here: declare it first, or leave it out"
    near = closest(word, words) if len(words) <= MAX_COMPARED_WORDS else None
    if near is not None:
        return f'did you mean "{near}"?'
    more = len(words) - MAX_LISTED_WORDS
    tail = f" and {more} more" if more > 0 else ""
    return f"{what} here: {', '.join(words[:MAX_LISTED_WORDS])}{tail}"

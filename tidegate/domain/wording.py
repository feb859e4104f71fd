"""Parts of messages: quoted values, English lists, and numbers with nouns."""

import re
from collections.abc import Sequence

LINE_END = re.compile("[\\t-\\r\\x85\\u2028\\u2029]")
"""Of all kinds, and tabs, which move what follows them."""

MAX_SHOWN_CHARACTERS = 60
"""Longer values are cut in messages: the beginning is enough to find them."""


def shown(value: object) -> str:
    """Return a value for a message: strings in quotes, long ones cut."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = value if len(value) <= MAX_SHOWN_CHARACTERS else value[:MAX_SHOWN_CHARACTERS] + "…"
        escaped = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
        return f'"{escaped}"'
    if isinstance(value, int | float):
        return str(value)
    return "a mapping" if isinstance(value, dict) else "a list"


def full_name(value: object) -> str:
    """Return the class of a value with its module: two libraries have a `DataFrame`."""
    kind = type(value)
    if value is None:
        return "None"
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def one_line(text: str) -> str:
    """Return a text of callers with spaces for its line ends, which could forge a line of ours."""
    return LINE_END.sub(" ", text)


def listed(words: list[str] | tuple[str, ...], joint: str = "or") -> str:
    """Return words as an English list: "a, b or c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {joint} {words[-1]}"


def first_of(words: Sequence[str], most: int) -> str:
    """Return the first of some words, and how many more there are: "a, b and 3 more"."""
    more = len(words) - most
    return ", ".join(words[:most]) + (f" and {more} more" if more > 0 else "")


def capitalized(text: str) -> str:
    """Return a text whose first letter is a capital; the others stay as they are."""
    return text[:1].upper() + text[1:]


_WITH_AN = re.compile(r"hour|hono|(?!eu|one|once)[aeio]|un(?!i)|up|us(?!e)", re.IGNORECASE)
"""Beginnings of words that are spoken with a vowel."""


def with_article(noun: str) -> str:
    """Return a noun with its article: "an hour", "a day"."""
    return f"an {noun}" if _WITH_AN.match(noun) else f"a {noun}"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun: "1 member", "2 members"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

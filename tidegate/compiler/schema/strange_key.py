"""The hint for a key that the language does not know at its place.

It says which key of this place is meant, by the words of other tools and by likeness, and which part of the
language knows the key. A short list of keys follows, and a long one where nothing else can be said: a list
that is cut hides the wanted key.
"""

from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any, NamedTuple, cast

from tidegate.compiler.schema.validator import app_schema
from tidegate.domain.suggest import MAX_COMPARED_WORDS, MAX_LISTED_WORDS, closest
from tidegate.domain.wording import listed

WORDS = {
    "and": "all",
    "both": "all",
    "every": "interval",
    "or": "any",
    "either": "any",
    "inputs": "reads",
    "outputs": "writes",
    "entrypoint": "run",
    "function": "run",
    "enabled": "status",
    "active": "status",
    "paused": "status",
    "suspended": "status",
    "disabled": "enabled",
    "schedule": "program",
    "needs": "depends_on",
    "upstream": "depends_on",
    "tz": "timezone",
    "mode": "write",
    "env": "spark_conf",
    "params": "args",
    "arguments": "args",
    "sla": "deadline",
    "max_concurrency": "concurrency",
}
"""The words of other tools and of logic, and the key that means the same here."""

ADVICE = {
    (
        "a schedule",
        "depends_on",
    ): "; a schedule waits by its trigger: `trigger: {partitions: {dataset: NAME}}`"
    " for data, `trigger: {run: {program: NAME}}` for a run",
    ("a schedule", "enabled"): "; write `status: active` or `status: suspended`",
    ("a task", "disabled"): "; write `enabled: false`",
    ("a policy", "disabled"): "; write `enabled: false`",
}
"""What to write beside the hint, by the title of the place and the key."""

MAIN = ("a schedule", "a task", "a program", "a dataset", "a policy", "an app")
"""The parts that are asked first for a key: what a person means is most often one of them."""

SAYS_NOTHING = ("name",)
"""Keys that tell nothing about the part that is meant."""

CLEAR = 0.85
"""From this likeness on a typing error is more likely than a key of another part."""


class _Part(NamedTuple):
    """A mapping of the language: its title, its keys, and the titles of what is around it."""

    title: str
    keys: frozenset[str]
    around: tuple[str, ...]


def hint_for_key(key: str, known: Iterable[str], title: str) -> str:
    """Return what to write instead of a key; "" where the language has nothing like it.

    Args:
        title: of the place, as the schema has it: "a schedule".
    """
    words = sorted(known)
    if not words:
        return "it has no keys at all: delete this one"
    if _is_negation(key, words):
        return ""
    near, parts = meant(key, words), _owners(key, title)
    said = f'did you mean "{near}"? ' if near else ""
    said += f"`{key}` belongs to {listed(parts)}" if parts else ""
    said += ADVICE.get((title, key), "")
    if said and len(words) > MAX_LISTED_WORDS:
        return said.rstrip()
    return f"{said}{'; ' if parts else ''}keys here: {', '.join(words)}"


def meant(key: str, known: Iterable[str]) -> str | None:
    """Return the key that another one most likely means; None where none is alike."""
    words, word = list(known), key.lower()
    if WORDS.get(word) in words:
        return WORDS[word]
    near = None if _is_negation(key, words) or len(words) > MAX_COMPARED_WORDS else closest(key, words)
    if near is None or not any(key in part.keys for part in _language()):
        return near
    return near if SequenceMatcher(None, word, near).ratio() >= CLEAR else None


def _is_negation(key: str, words: Iterable[str]) -> bool:
    """Return whether a key negates conditions: nothing does, and the nearest word says another thing."""
    return key.lower() in ("not", "none", "none_of") and "all" in words


def _owners(key: str, title: str) -> list[str]:
    """Return the titles of the parts that know a key: those within the place and the main ones, else all.

    Scenarios have a language of their own: a key of theirs says nothing about a schedule, and the other way.
    """
    scenario = any(part.title == title and _in_scenario(part) for part in _language())
    found = {
        part.title: part
        for part in _language()
        if key in part.keys
        and key not in SAYS_NOTHING
        and part.title != title
        and _in_scenario(part) is scenario
    }
    inner = [name for name, part in found.items() if title in part.around]
    main = [name for name in MAIN if name in found and name not in inner]
    return inner + main or list(found)


def _in_scenario(part: _Part) -> bool:
    return "a scenario" in (part.title, *part.around)


@lru_cache(maxsize=1)
def _language() -> tuple[_Part, ...]:
    """Return all mappings of the language that have a title, in the order of the schema."""
    return tuple(_parts_of(app_schema(), (), set()))


def _parts_of(schema: Any, around: tuple[str, ...], seen: set[int]) -> Iterator[_Part]:
    if id(schema) in seen:
        return  # A trigger contains triggers.
    seen.add(id(schema))
    if isinstance(schema, list):
        for member in cast("list[Any]", schema):
            yield from _parts_of(member, around, seen)
    elif isinstance(schema, dict):
        found = cast("dict[str, Any]", schema)
        title, keys = found.get("title"), found.get("properties")
        if isinstance(title, str) and isinstance(keys, dict):
            yield _Part(title, frozenset(cast("dict[str, Any]", keys)), around)
            around = around if title == "an app" else (*around, title)
        for inner in found.values():
            yield from _parts_of(inner, around, seen)

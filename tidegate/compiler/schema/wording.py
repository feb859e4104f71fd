"""The messages for schema errors: the rule, the value, and what to write instead.

A fault is one error of the validator with its node; `word` returns one or more messages for it. There is
one function for each keyword of JSON Schema that the schema uses; `tests/compiler/test_schema.py`
checks that none is missing.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

from tidegate.compiler.reader.node import MappingNode, Node, ScalarNode, SequenceNode, plain
from tidegate.compiler.schema.strange_key import hint_for_key, meant
from tidegate.compiler.schema.validator import repeated_members
from tidegate.domain.duration import duration_hint
from tidegate.domain.suggest import MAX_LISTED_WORDS, did_you_mean
from tidegate.domain.time.clock_text import clock_hint
from tidegate.domain.value import Value
from tidegate.domain.wording import listed, plural, shown

_TYPES = {
    "object": "a mapping",
    "array": "a list",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "nothing",
}


_LISTED = ("a constraint", "a check", "an action", "an expectation")
"""Titles of members of lists."""


_SEVERAL = "make them members of `all: [...]` or `any: [...]`"
"""What to do with two triggers in one place."""


class Fault(Value, kw_only=True):
    """One error of the validator.

    Attributes:
        expected: the value of the keyword in the schema.
        schema: the part of the schema that holds the keyword.
        place: the place of messages about the whole node: its key, if it has one.
        label: the name of the node in messages.
    """

    keyword: str
    expected: Any
    schema: dict[str, Any]
    node: Node
    place: Node
    label: str


class Worded(Value, kw_only=True):
    """The code, place and texts of a diagnostic."""

    code: str
    place: Node
    summary: str
    hint: str


def word(fault: Fault) -> Iterator[Worded]:
    """Yield the words for one fault."""
    yield from _WORDS[fault.keyword](fault)


def _got(node: Node) -> str:
    return shown(node.value if isinstance(node, ScalarNode) else plain(node))


def _title(fault: Fault) -> str:
    return str(fault.schema.get("title", "of another form"))


def _example(fault: Fault) -> str:
    """Return a hint that shows one good value, in the flow style of YAML."""
    examples = fault.schema.get("examples") or fault.schema.get("enum")
    return (
        f"write for example {flow(examples[0])}" if examples else "`tidegate schema` prints what is allowed"
    )


def flow(value: Any) -> str:
    """Return a value in YAML's flow style, for hints."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        return "{" + ", ".join(f"{k}: {flow(v)}" for k, v in members.items()) + "}"
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return "[" + ", ".join(flow(v) for v in items) + "]"
    if isinstance(value, str):
        safe = value.replace("_", "a").replace("-", "a").replace("/", "a").replace(".", "a").isalnum()
        return value if safe else f'"{value}"'
    return shown(value)


def _type(fault: Fault) -> Iterator[Worded]:
    names = [fault.expected] if isinstance(fault.expected, str) else list(fault.expected)
    wanted = listed([_TYPES[name] for name in names])
    node = fault.node
    value = node.value if isinstance(node, ScalarNode) else None
    hint = _example(fault)
    if isinstance(node, ScalarNode) and value is None:
        hint = f"give a value, or delete the key; {hint}"
    elif (
        isinstance(node, SequenceNode)
        and str(fault.schema.get("title")).endswith("trigger")
        and _mappings(node)
    ):
        hint = _SEVERAL
    elif isinstance(value, bool | int | float) and names == ["string"]:
        hint = "write it in quotes, since it must be a string"
    elif isinstance(value, str) and names == ["integer"] and value.lstrip("-").isdigit():
        hint = f"write it without quotes: {value[:18]}"
    summary = f"{fault.label} must be {wanted}, got {_got(node)}"
    yield Worded(code="S104", place=node, summary=summary, hint=hint)


def _mappings(node: SequenceNode) -> bool:
    return any(isinstance(item, MappingNode) for item in node.items)


def _additional(fault: Fault) -> Iterator[Worded]:
    if not isinstance(fault.node, MappingNode):
        return
    known: dict[str, Any] = fault.schema.get("properties", {})
    title = _title(fault)
    for key, place in fault.node.keys.items():
        if key in known:
            continue
        if is_later(title, key):
            summary = f"{title} does not support this key yet, got {shown(key)}"
            yield Worded(
                code="S102",
                place=place,
                summary=summary,
                hint=f"known here: {', '.join(known)}",
            )
        else:
            summary = f"{title} has no such key, got {shown(key)}"
            yield Worded(
                code="S101",
                place=place,
                summary=summary,
                hint=hint_for_key(key, known, title),
            )


def _required(fault: Fault) -> Iterator[Worded]:
    if not isinstance(fault.node, MappingNode):
        return
    properties: dict[str, Any] = fault.schema.get("properties", {})
    # A strange key that means the missing one is one mistake, and has its message.
    strange = (key for key in fault.node.keys if properties and key not in properties)
    written = {*fault.node.values, *(meant(key, properties) for key in strange)}
    for name in fault.expected:
        if name not in written:
            have = ", ".join(list(fault.node.keys)[:8]) or "nothing"
            examples = properties.get(name, {}).get("examples")
            hint = f"add for example {name}: {flow(examples[0])}" if examples else f"add `{name}:`"
            summary = f"{_title(fault)} needs the key `{name}`, got {have}"
            yield Worded(code="S103", place=fault.place, summary=summary, hint=hint)


def _enum(fault: Fault) -> Iterator[Worded]:
    words = [str(w) for w in fault.expected]
    rule = listed(words) if len(words) <= MAX_LISTED_WORDS else _title(fault)
    summary = f"{fault.label} must be {rule}, got {_got(fault.node)}"
    value = fault.node.value if isinstance(fault.node, ScalarNode) else None
    hint = did_you_mean(value, words, "values", whole=True) if isinstance(value, str) else _example(fault)
    yield Worded(code="S105", place=fault.node, summary=summary, hint=hint)


def _pattern(fault: Fault) -> Iterator[Worded]:
    value = fault.node.value if isinstance(fault.node, ScalarNode) else None
    # If the schema allows other types beside a text, its title describes all of them.
    rule = str(fault.schema.get("patternErrorMessage", _title(fault)))
    hint = _example(fault)
    if isinstance(value, str) and "lower-case" in rule:
        parts = value.split("/") if "app/name" in rule and value.count("/") == 1 else [value]
        name = "/".join(_as_name(part) for part in parts)
        hint = f'write "{name}"' if name != value and all(map(_as_name, parts)) else hint
    elif isinstance(value, str):
        hint = _respelled(value, rule) or hint
    summary = f"{fault.label} must be {rule}, got {_got(fault.node)}"
    yield Worded(code="S106", place=fault.node, summary=summary, hint=hint)


def _respelled(value: str, rule: str) -> str | None:
    """Return a hint that has the value in our spelling; None where it is not known what is meant."""
    if rule.startswith("a duration"):
        return duration_hint(value)
    if rule.startswith("a time of day"):
        return clock_hint(value)
    dotted = value.removesuffix(".py").strip("./").replace("/", ".").replace("-", "_")
    is_path = "dotted path" in rule and dotted.replace(".", "").isidentifier()
    return f"write {dotted}" if is_path else None


def _as_name(text: str) -> str:
    """Return a text made into a name, for a hint."""
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in text.lower()).strip("_")
    return name.lstrip("0123456789_")[:63]


def _bound(fault: Fault) -> Iterator[Worded]:
    low, high = fault.schema.get("minimum"), fault.schema.get("maximum")
    summary = f"{fault.label} must be from {low} to {high}, got {_got(fault.node)}"
    yield Worded(code="S107", place=fault.node, summary=summary, hint=_example(fault))


def _members(fault: Fault) -> Iterator[Worded]:
    got = len(fault.node.items) if isinstance(fault.node, SequenceNode) else len(plain(fault.node))
    rule = "at least" if fault.keyword.startswith("min") else "at most"
    what = "member" if isinstance(fault.node, SequenceNode) else "key"
    summary = f"{fault.label} must have {rule} {plural(fault.expected, what)}, got {got}"
    hint = _example(fault) if rule == "at least" else "split it"
    yield Worded(code="S108", place=fault.place, summary=summary, hint=hint)


def _unique(fault: Fault) -> Iterator[Worded]:
    if not isinstance(fault.node, SequenceNode):
        return
    for index in repeated_members(plain(fault.node)):
        member = fault.node.items[index]
        summary = f"{fault.label} must name each member once, got {_got(member)} again"
        yield Worded(code="S108", place=member, summary=summary, hint="delete one of the two")


def _length(fault: Fault) -> Iterator[Worded]:
    value = fault.node.value if isinstance(fault.node, ScalarNode) else ""
    if not value:
        summary = f"{fault.label} must not be empty, got {_got(fault.node)}"
    else:
        got = len(value) if isinstance(value, str) else 0
        summary = f"{fault.label} must have at most {fault.expected} characters, got {got}"
    yield Worded(code="S112", place=fault.node, summary=summary, hint=_example(fault))


def _one_of(fault: Fault) -> Iterator[Worded]:
    if not isinstance(fault.node, MappingNode):
        return
    kinds = [str(branch["required"][0]) for branch in fault.expected]
    found = [name for name in fault.node.keys if name in kinds]
    title = _title(fault)
    if not found:
        have = listed(list(fault.node.keys)[:8], "and") or "an empty mapping"
        summary = f"{title} names its kind, one of {listed(kinds)}; got {have}"
        yield Worded(code="S109", place=fault.place, summary=summary, hint=_example(fault))
        return
    for name in found[1:]:
        summary = f"{title} is of one kind, got `{found[0]}` and `{name}`"
        yield Worded(code="S110", place=fault.node.keys[name], summary=summary, hint=_apart(title))


def _apart(title: str) -> str:
    """Return how to keep two kinds of one thing."""
    if title.endswith("trigger"):
        return _SEVERAL
    if title in _LISTED:
        return "make each a member of its own in the list"
    return "delete one of the two"


def _dependent(fault: Fault) -> Iterator[Worded]:
    if not isinstance(fault.node, MappingNode):
        return
    own_kinds = [branch["required"][0] for branch in fault.schema.get("oneOf", ())]
    for option, kinds in fault.expected.items():
        if option not in fault.node.values or all(k in fault.node.values for k in kinds):
            continue
        if option in own_kinds:
            lacking = next(kind for kind in kinds if kind not in fault.node.values)
            known = fault.schema["properties"][lacking]
            got = "got it without" if len(kinds) > 1 else "got it alone"
            summary = f"`{option}` needs the key `{lacking}` beside it, {got}"
            hint = f"add for example {lacking}: {flow(known['examples'][0])}"
            yield Worded(code="S103", place=fault.node.keys[option], summary=summary, hint=hint)
        else:
            summary = f"`{option}` belongs beside `{kinds[0]}`, got it without"
            hint = f"delete it, or write it beside the `{kinds[0]}` it is meant for"
            yield Worded(code="S111", place=fault.node.keys[option], summary=summary, hint=hint)


def _any_of(fault: Fault) -> Iterator[Worded]:
    """Yield the message for an option beside a wrong kind; `anyOf` is used only for this."""
    kinds = [f"`{branch['required'][0]}`" for branch in fault.expected]
    summary = f"{fault.label} belongs beside {listed(kinds)}, got it without"
    yield Worded(code="S111", place=fault.place, summary=summary, hint=f"delete {fault.label}")


_WORDS: dict[str, Callable[[Fault], Iterator[Worded]]] = {
    "type": _type,
    "additionalProperties": _additional,
    "required": _required,
    "enum": _enum,
    "pattern": _pattern,
    "minimum": _bound,
    "maximum": _bound,
    "minItems": _members,
    "maxItems": _members,
    "minProperties": _members,
    "maxProperties": _members,
    "uniqueItems": _unique,
    "minLength": _length,
    "maxLength": _length,
    "oneOf": _one_of,
    "anyOf": _any_of,
    "dependentRequired": _dependent,
}


LATER: dict[str, tuple[str, ...]] = {
    "app": ("settings",),
    "dataset": ("external",),
}
"""Keys that are reserved for a later version, by the title of the place without its article.

They are refused with a message of their own, so that a user does not expect an effect. Remove a key from
this table when its trigger, constraint or option is implemented.
"""


def is_later(place: str, key: str) -> bool:
    """Return whether a key is known to the language at a place, named by the title of its schema."""
    return key in LATER.get(place.removeprefix("a ").removeprefix("an "), ())

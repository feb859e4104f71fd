"""Templates: texts in a schedule's `args` with references to what triggered the run.

    days: "{{ trigger.partitions }}"               becomes the list, with its type
    title: "run for {{ business_date }}"           becomes a text
    shell: 'echo {{ "{{" }}'                       a quoted text is copied

This module knows only the syntax: `compiler.rules.references` lists the references and what they need,
`scheduler.decision.launch.references` computes their values. A template only names values: nothing is
evaluated.
"""

import json
from collections.abc import Callable, Iterable
from typing import Any, cast

from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.domain.wording import shown

OPENING, CLOSING = "{{", "}}"

MAX_REFERENCES_PER_TEXT = 100
"""A text with more references should be built in the program."""

MAX_REFERENCE_CHARACTERS = 200
"""The limit of keys in a file."""


class TemplateError(UserError, ValueError):
    """A text that is not a valid template."""


class Reference(Value, kw_only=True):
    """One reference, for example "trigger.run.args.day"."""

    name: str


class Template(Value, kw_only=True):
    """A text, split into literal parts and references."""

    parts: tuple[str | Reference, ...]

    @property
    def references(self) -> tuple[str, ...]:
        """The names of its references in their order, without duplicates."""
        return tuple(dict.fromkeys(part.name for part in self.parts if isinstance(part, Reference)))


def parse(text: str) -> Template:
    """Return the template that a text is; one without braces is a single part.

    Raises:
        TemplateError: for braces that are not closed, that hold nothing, or too many of them.
    """
    parts: list[str | Reference] = []
    rest = text
    for _ in range(MAX_REFERENCES_PER_TEXT + 1):
        before, opening, after = rest.partition(OPENING)
        if before:
            parts.append(before)
        if not opening:
            return Template(parts=tuple(parts))
        inside, closing, rest = after.partition(CLOSING)
        if not closing:
            raise TemplateError(
                f"`{{{{` opens a reference that `}}}}` closes, got {shown(OPENING + inside)}",
                'write for example "{{ trigger.partitions }}"; for the braces themselves \'{{ "{{" }}\'',
            )
        parts.append(_part(inside.strip()))
    raise TemplateError(
        f"a text has at most {MAX_REFERENCES_PER_TEXT} references, got more in {shown(text)}",
        "pass the values as separate arguments, and build the text in the program",
    )


def render(value: Any, values: Callable[[str], Any]) -> Any:
    """Return the arguments with every reference replaced by its value, in lists and mappings too.

    A string that is one reference becomes the value with its type. Inside a longer string values
    become text: the members of a list with commas between them, null as the empty text. An invalid
    template stays unchanged; lint has refused it.

    Args:
        value: any JSON, never changed.
        values: the value of a reference by its name.
    """
    return with_texts(value, lambda text: _rendered(text, values))


def with_texts(value: Any, change: Callable[[str], Any]) -> Any:
    """Return what a change makes of the texts in some arguments, in lists and mappings too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: with_texts(member, change) for key, member in cast("dict[str, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [with_texts(member, change) for member in cast("list[Any]", value)]
    return value


def references_in(value: Any) -> frozenset[str]:
    """Return the names of all references in some arguments; an invalid template has none."""
    if isinstance(value, str):
        try:
            return frozenset(parse(value).references)
        except TemplateError:
            return frozenset()
    members: Iterable[Any] = ()
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value).values()
    elif isinstance(value, list | tuple):
        members = cast("list[Any]", value)
    return frozenset[str]().union(*map(references_in, members))


def _part(inside: str) -> str | Reference:
    if len(inside) > 1 and inside[0] in "'\"" and inside[-1] == inside[0]:
        return inside[1:-1]
    good = inside and not any(c.isspace() or c in "{}'\"|()" for c in inside)
    if not good or len(inside) > MAX_REFERENCE_CHARACTERS:
        raise TemplateError(
            f"a reference is one name, got {shown(inside)}",
            'write for example "{{ business_date }}"; values are taken as they are, without operators',
        )
    return Reference(name=inside)


def _rendered(text: str, values: Callable[[str], Any]) -> Any:
    if OPENING not in text:
        return text
    try:
        parts = parse(text).parts
    except TemplateError:
        return text
    if len(parts) == 1 and isinstance(parts[0], Reference):
        return values(parts[0].name)
    return "".join(part if isinstance(part, str) else _as_text(values(part.name)) for part in parts)


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | tuple):
        return ",".join(_as_text(member) for member in cast("list[Any]", value))
    return json.dumps(value, sort_keys=True)

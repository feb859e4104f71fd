"""The fields at which two canonical forms of a part differ (`compiler.fingerprint`). Pure."""

from collections.abc import Iterator
from typing import Any, cast

from tidegate.domain.value import Value


class FieldChange(Value, kw_only=True):
    """One field that differs.

    Attributes:
        path: keys joined by ".", list members by their number, for example "trigger.of.0.count".
        old, new: the values in canonical form; None where the field is absent or has its default.
    """

    path: str
    old: Any = None
    new: Any = None


def field_changes(old: Any, new: Any, path: str = "") -> Iterator[FieldChange]:
    """Yield the leaves at which two canonical forms differ; lists of equal length member by member."""
    if old == new:
        return
    if isinstance(old, dict) and isinstance(new, dict):
        before, wanted = cast("dict[str, Any]", old), cast("dict[str, Any]", new)
        if before.get("kind") == wanted.get("kind"):
            for key in sorted(set(before) | set(wanted)):
                yield from field_changes(before.get(key), wanted.get(key), f"{path}.{key}" if path else key)
            return
    if isinstance(old, list) and isinstance(new, list):
        items, others = cast("list[Any]", old), cast("list[Any]", new)
        if len(items) == len(others) and any(isinstance(item, dict) for item in items):
            for index, (one, other) in enumerate(zip(items, others, strict=True)):
                yield from field_changes(one, other, f"{path}.{index}")
            return
    yield FieldChange(path=path, old=old, new=new)

"""The check of an app against the JSON Schema, with diagnostics at the places of the errors.

`jsonschema` finds the errors, and `compiler.schema.wording` writes a message for each. The result lists the
broken parts (datasets, programs, schedules, members of an example): the builders leave them out and
continue with the rest, so that they never receive a value of a wrong shape.
"""

from itertools import islice
from typing import Any

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node, find, plain
from tidegate.compiler.schema.validator import app_validator, part_validator
from tidegate.compiler.schema.wording import Fault, word

MAX_SCHEMA_ERRORS = 400
"""Enough for the hundred diagnostics of a file; it bounds the time for a file full of mistakes."""

Path = tuple[str | int, ...]
"""The keys and member numbers that lead to a value."""

Broken = frozenset[Path]
"""The paths of all errors and of what contains them, from the second step on.

("schedules", "every_morning") is in it if the schedule or anything inside it has an error.
("examples",) is in it only if the list itself has one, or if not all errors are known; then all parts are.
"""

EXAMPLES: Path = ("examples",)
ALONE: Path = ("examples", 0)
"""The path that `check_example` gives to its example."""


def check_app(root: MappingNode, findings: Findings) -> Broken:
    """Check a whole app; return the paths that have errors."""
    return _check(app_validator(), root, findings, ())


def check_part(section: str, spec: MappingNode, findings: Findings) -> bool:
    """Check the specification of one schedule or task; return whether it has the right shape."""
    return not _check(part_validator(section), spec, findings, (section, "it"))


def check_example(example: MappingNode, findings: Findings) -> Broken:
    """Check an example from a file of its own; its path is `ALONE`."""
    return _check(part_validator("examples"), example, findings, ALONE)


def _check(validator: Any, root: MappingNode, findings: Findings, prefix: Path) -> Broken:
    errors: list[Any] = list(islice(validator.iter_errors(plain(root)), MAX_SCHEMA_ERRORS))
    mistyped = {tuple(e.absolute_path) for e in errors if e.validator == "type"}
    strangers = {tuple(e.absolute_path) for e in errors if e.validator == "additionalProperties"}
    broken: set[Path] = {EXAMPLES, *_parts(root)} if len(errors) == MAX_SCHEMA_ERRORS else set()
    for error in errors:
        path: Path = tuple(error.absolute_path)
        is_key = "propertyNames" in error.absolute_schema_path
        _add(broken, (*prefix, *path, error.instance) if is_key else (*prefix, *path))
        if error.validator != "type" and path in mistyped and not is_key:
            continue
        if error.validator == "oneOf" and path in strangers and not _kinds(error):
            continue
        for fault in word(_fault(error, root, path, is_key)):
            findings.add(fault.code, fault.place, fault.summary, fault.hint)
    return frozenset(broken)


def _parts(root: MappingNode) -> set[Path]:
    return {
        (section, name)
        for section, parts in root.values.items()
        if isinstance(parts, MappingNode)
        for name in parts.values
    }


def _add(broken: set[Path], path: Path) -> None:
    broken.add(path)
    broken.update(path[:length] for length in range(2, len(path)))


def _kinds(error: Any) -> list[str]:
    """Return the kinds of a trigger or constraint that the instance of a `oneOf` error names."""
    names = [branch["required"][0] for branch in error.validator_value]
    return [name for name in names if name in error.instance]


def _fault(error: Any, root: MappingNode, path: Path, is_key: bool) -> Fault:
    node = find(root, path)
    place: Any = _key_place(root, path, node)
    label = _label(path)
    option = _option(error)
    if is_key and isinstance(node, MappingNode):
        node = place = node.keys[error.instance]
        label = "a name"
    elif option and isinstance(node, MappingNode):
        place, label = node.keys[option], f"`{option}`"
    return Fault(
        keyword=error.validator,
        expected=error.validator_value,
        schema=error.schema,
        node=node,
        place=place,
        label=label,
    )


def _option(error: Any) -> str:
    """Return the key whose `dependentSchemas` an error comes from; "" for any other error."""
    steps = list(error.absolute_schema_path)
    return steps[-2] if len(steps) >= 3 and steps[-3] == "dependentSchemas" else ""


def _key_place(root: MappingNode, path: Path, node: Node) -> Node:
    """Return the key that leads to a mapping or list: what is missing in there has no place of its own."""
    if path and isinstance(path[-1], str):
        parent = find(root, path[:-1])
        return parent.keys[path[-1]] if isinstance(parent, MappingNode) else node
    return node


def _label(path: Path) -> str:
    """Return the name of the value at a path in messages."""
    if not path:
        return "the file"
    last = path[-1]
    if isinstance(last, str):
        return f"`{last}`"
    names = [step for step in path if isinstance(step, str)]
    return f"member {last + 1} of `{names[-1]}`" if names else f"member {last + 1}"

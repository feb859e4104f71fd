"""The shape of an app: the JSON Schema's verdict, turned into diagnostics with places.

`jsonschema` finds the errors; what it says of them is for machines, so every kind of error
is worded anew here, at the node it speaks of. The result names the parts (datasets,
programs, schedules) that are broken: the builder leaves those out and goes on with the rest.
"""

from itertools import islice
from typing import Any

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node, find, plain
from tidegate.compiler.schema.validator import app_validator, example_validator, schedule_validator
from tidegate.compiler.schema.wording import Fault, word

MAX_SCHEMA_ERRORS = 400
"""Enough for a file's hundred diagnostics; a file of nothing but mistakes must not take seconds."""

Part = tuple[str, str]
"""A section and a name in it, for example ("schedules", "every_morning")."""

Path = tuple[str | int, ...]


def check_app(root: MappingNode, findings: Findings) -> frozenset[Part]:
    """Checks a whole app.

    Returns:
        The parts that have errors.
    """
    return _check(app_validator(), root, findings, ())


def check_schedule(spec: MappingNode, findings: Findings) -> bool:
    """Checks the specification of one schedule; whether it has the right shape."""
    return not _check(schedule_validator(), spec, findings, ("schedules", "it"))


def check_example(example: MappingNode, findings: Findings) -> bool:
    """Checks an example that stands in a file of its own; whether it has the right shape."""
    before = len(findings.diagnostics())
    _check(example_validator(), example, findings, ())
    return len(findings.diagnostics()) == before


def _check(validator: Any, root: MappingNode, findings: Findings, prefix: Path) -> frozenset[Part]:
    errors: list[Any] = list(islice(validator.iter_errors(plain(root)), MAX_SCHEMA_ERRORS))
    if not errors:
        return frozenset()
    mistyped = {tuple(e.absolute_path) for e in errors if e.validator == "type"}
    strangers = {tuple(e.absolute_path) for e in errors if e.validator == "additionalProperties"}
    broken: set[Part] = set()
    for error in errors:
        path: Path = tuple(error.absolute_path)
        is_key = "propertyNames" in error.absolute_schema_path
        broken.update(_parts((*prefix, *path, error.instance) if is_key else (*prefix, *path)))
        if error.validator != "type" and path in mistyped and not is_key:
            continue
        if error.validator == "oneOf" and path in strangers and not _kinds(error):
            continue
        for fault in word(_fault(error, root, path, is_key)):
            findings.add(fault.code, fault.place, fault.summary, fault.hint)
    return frozenset(broken)


def _parts(path: Path) -> list[Part]:
    if len(path) >= 2 and isinstance(path[0], str) and isinstance(path[1], str):
        return [(path[0], path[1])]
    return []


def _kinds(error: Any) -> list[str]:
    """The kinds of a trigger or constraint that the instance of a `oneOf` error names."""
    names = [branch["required"][0] for branch in error.validator_value]
    return [name for name in names if name in error.instance]


def _fault(error: Any, root: MappingNode, path: Path, is_key: bool) -> Fault:
    node = find(root, path)
    place: Any = _key_place(root, path, node)
    if is_key and isinstance(node, MappingNode):
        node = place = node.keys[error.instance]
    return Fault(
        keyword=error.validator,
        expected=error.validator_value,
        schema=error.schema,
        node=node,
        place=place,
        label="a name" if is_key else _label(path),
    )


def _key_place(root: MappingNode, path: Path, node: Node) -> Node:
    """The key that leads to a mapping or list: what is missing in there has no place of its own."""
    if path and isinstance(path[-1], str):
        parent = find(root, path[:-1])
        return parent.keys[path[-1]] if isinstance(parent, MappingNode) else node
    return node


def _label(path: Path) -> str:
    """What a message calls the value at a path."""
    if not path:
        return "the file"
    last = path[-1]
    if isinstance(last, str):
        return f"`{last}`"
    names = [step for step in path if isinstance(step, str)]
    return f"member {last + 1} of `{names[-1]}`" if names else f"member {last + 1}"

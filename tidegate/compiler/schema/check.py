"""The check of an app against the JSON Schema, with diagnostics at the places of the errors.

Where a value does not fit, `jsonschema` finds the errors, and `compiler.schema.wording` writes a message for
each. The result lists the broken parts (datasets, programs, schedules, members of an example): the builders
leave them out and continue with the rest, so that they never receive a value of a wrong shape.
"""

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, Node, SequenceNode, find, plain
from tidegate.compiler.schema.fitting import fits
from tidegate.compiler.schema.validator import app_schema, app_validator, part_schema
from tidegate.compiler.schema.whole_numbers import whole_numbers

if TYPE_CHECKING:
    from tidegate.compiler.schema.wording import Fault, Worded

MAX_SCHEMA_ERRORS = 400
"""Enough for the hundred diagnostics of a file; it bounds the time for a file full of mistakes."""

MAX_SCHEMA_ERRORS_OF_ROWS = 150_000
"""A mistake in each row of a template is one error for each; it bounds the time for several such mistakes."""

Path = tuple[str | int, ...]
"""The keys and member numbers that lead to a value."""

Broken = frozenset[Path]
"""The paths of all errors and of what contains them, from the second step on.

("schedules", "every_morning") is in it if the schedule or anything inside it has an error.
("examples",) is in it only if the list itself has one, or if not all errors are known; then all parts are.
"""

SECTIONS = ("calendars", "datasets", "programs", "schedules", "tasks", "policies")
"""The sections with parts that a template makes, and to which defaults are added."""

TEMPLATES, DEFAULTS = "templates", "defaults"

EXAMPLES: Path = ("examples",)
ALONE: Path = ("examples", 0)
"""The path that `check_example` gives to its example."""


def check_app(root: MappingNode, findings: Findings) -> Broken:
    """Check a whole app; return the paths that have errors."""
    return _check(app_schema(), root, findings, ())


def check_part(section: str, spec: MappingNode, findings: Findings) -> bool:
    """Check the specification of one schedule or task; return whether it has the right shape."""
    return not _check(part_schema(section), spec, findings, (section, "it"))


def check_example(example: MappingNode, findings: Findings) -> Broken:
    """Check an example from a file of its own; its path is `ALONE`."""
    return _check(part_schema("examples"), example, findings, ALONE)


def check_templates(root: MappingNode, findings: Findings) -> None:
    """Check the shape of an app's templates; their parts are checked once they are filled in."""
    templates = root.get(TEMPLATES)
    if templates is None:
        return
    if isinstance(templates, MappingNode):
        written = {name: _without_parts(each) for name, each in templates.values.items()}
        templates = msgspec.structs.replace(templates, values=written)
    _check_key(TEMPLATES, templates, root, app_schema()["properties"][TEMPLATES], findings)


def _without_parts(template: Node) -> Node:
    """Return a template with empty sections, and with empty lists of values."""
    if not isinstance(template, MappingNode):
        return template
    found = dict(template.values)
    for key, node in template.values.items():
        if isinstance(node, MappingNode) and key in SECTIONS:
            found[key] = MappingNode({}, {}, node.line, node.column)
        elif isinstance(node, MappingNode) and key == "for":
            lists = {name: _without_items(each) for name, each in node.values.items()}
            found[key] = msgspec.structs.replace(node, values=lists)
    return msgspec.structs.replace(template, values=found)


def _without_items(node: Node) -> Node:
    return msgspec.structs.replace(node, items=()) if isinstance(node, SequenceNode) else node


def check_defaults(root: MappingNode, findings: Findings) -> None:
    """Check the defaults of an app; a default is checked again in each part that has it."""
    defaults = root.get(DEFAULTS)
    if defaults is None:
        return
    properties = app_schema()["properties"]
    schema = {
        **properties[DEFAULTS],
        "properties": {section: _of_defaults(properties[section]) for section in SECTIONS},
    }
    whole = whole_numbers(MappingNode({DEFAULTS: defaults}, {}, 1, 1), {"properties": {DEFAULTS: schema}})
    _check_key(DEFAULTS, whole.values[DEFAULTS], root, schema, findings)


def _of_defaults(section: dict[str, Any]) -> dict[str, Any]:
    part = section["additionalProperties"]
    # What a part needs, or may not have together, is judged once it has its defaults.
    return {key: part[key] for key in ("title", "type", "properties", "additionalProperties")}


def _check_key(key: str, node: Node, root: MappingNode, schema: dict[str, Any], findings: Findings) -> None:
    """Check the value of one key of an app."""
    alone = {"properties": {key: schema}}
    _check(alone, MappingNode({key: node}, {key: root.keys[key]}, 1, 1), findings, ())


def _check(schema: dict[str, Any], root: MappingNode, findings: Findings, prefix: Path) -> Broken:
    errors, all_known = _errors(schema, root)
    if not errors:
        return frozenset()
    from tidegate.compiler.schema.wording import word

    mistyped = {tuple(e.absolute_path) for e in errors if e.validator == "type"}
    strangers = {tuple(e.absolute_path) for e in errors if e.validator == "additionalProperties"}
    broken: set[Path] = set() if all_known else {EXAMPLES, *_parts(root)}
    words: dict[tuple[str, int, int], list[Worded]] = {}
    for error in errors:
        path: Path = tuple(error.absolute_path)
        is_key = "propertyNames" in error.absolute_schema_path
        _add(broken, (*prefix, *path, error.instance) if is_key else (*prefix, *path))
        if error.validator != "type" and path in mistyped and not is_key:
            continue
        if error.validator == "oneOf" and path in strangers and not _kinds(error):
            continue
        fault = _fault(error, root, path, is_key)
        place = (error.validator, fault.node.line, fault.node.column)
        if fault.node.row and place in words:
            # Another row of a template has the same mistake, and the hint was searched for it.
            for each in words[place]:
                same = msgspec.structs.replace(each.place, row=fault.node.row)
                findings.add(each.code, same, each.summary, "")
            continue
        words[place] = list(word(fault))
        for each in words[place]:
            findings.add(each.code, each.place, each.summary, each.hint)
    return frozenset(broken)


def _errors(schema: dict[str, Any], root: MappingNode) -> tuple[list[Any], bool]:
    """Return the errors of a value, and whether these are all.

    What is wrong in several rows of a template counts once.
    """
    value = plain(root)
    if fits(schema, value):
        return [], True
    found: list[Any] = []
    different = 0
    seen: set[tuple[str, int, int]] = set()
    for error in islice(app_validator().evolve(schema=schema).iter_errors(value), MAX_SCHEMA_ERRORS_OF_ROWS):
        found.append(error)
        node = find(root, tuple(error.absolute_path))
        if "propertyNames" in error.absolute_schema_path and isinstance(node, MappingNode):
            node = node.keys[error.instance]
        place = (error.validator, node.line, node.column)
        different += not node.row or place not in seen
        seen.add(place)
        if different == MAX_SCHEMA_ERRORS:
            break
    if not found:
        return [], True
    all_known = different < MAX_SCHEMA_ERRORS and len(found) < MAX_SCHEMA_ERRORS_OF_ROWS
    # The library looks at the parts of a section in no order: the first row is to be named first.
    order = {path: number for number, path in enumerate(_parts(root))}
    return sorted(found, key=lambda error: order.get(_part_of(error), -1)), all_known


def _part_of(error: Any) -> Path:
    path: Path = tuple(error.absolute_path)[:2]
    return (
        (*path, error.instance) if "propertyNames" in error.absolute_schema_path and len(path) == 1 else path
    )


def _parts(root: MappingNode) -> list[Path]:
    return [
        (section, name)
        for section, parts in root.values.items()
        if isinstance(parts, MappingNode)
        for name in parts.values
    ]


def _add(broken: set[Path], path: Path) -> None:
    broken.add(path)
    broken.update(path[:length] for length in range(2, len(path)))


def _kinds(error: Any) -> list[str]:
    """Return the kinds of a trigger or constraint that the instance of a `oneOf` error names."""
    names = [branch["required"][0] for branch in error.validator_value]
    return [name for name in names if name in error.instance]


def _fault(error: Any, root: MappingNode, path: Path, is_key: bool) -> "Fault":
    from tidegate.compiler.schema.wording import Fault

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

"""The table format of a dataset that names none: the one with which it is deployed, else the default.

Only a dataset that a program of the app writes takes a default. Landed files (`path`), and datasets
that no program writes, are Parquet. A deployed dataset keeps its format, whatever is installed
later, because its rows are in that format; a note reports it where the default is another one.
"""

from collections.abc import Iterable

import msgspec

from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.compiler.scope.scope import Scope
from tidegate.domain.model.table_format import LANDED, DatasetFormat, format_facts
from tidegate.domain.wording import shown


def set_formats(
    parts: Iterable[tuple[ScalarNode, MappingNode]], scope: Scope, former_apps: tuple[str, ...] = ()
) -> None:
    """Set the formats of the scope's datasets that name none.

    Args:
        parts: name and body of each dataset that was built.
        former_apps: former names of the app, the newest first.
    """
    formats, found = scope.formats, scope.datasets
    written = {name for program in scope.programs.values() for name in program.writes}
    kept: list[tuple[ScalarNode, DatasetFormat]] = []
    for key, node in parts:
        name = str(key.value)
        names = (f"{app}/{n}" for app in (scope.app, *former_apps) for n in (name, *found[name].renamed_from))
        deployed = next((formats.deployed[each] for each in names if each in formats.deployed), None)
        if "format" in node.values:
            continue
        if "path" in node.values:
            if deployed is not None and format_facts(deployed).in_catalog:
                _refuse_path(node, deployed, scope)
            continue
        default: DatasetFormat = formats.default if name in written else LANDED
        found[name] = msgspec.structs.replace(found[name], format=deployed or default)
        if name in written and deployed not in (None, default):
            kept.append((key, found[name].format))
    if kept:
        _note_kept(kept, formats.default, scope)


def _refuse_path(node: MappingNode, deployed: DatasetFormat, scope: Scope) -> None:
    table = format_facts(deployed).a_table()
    wrong = f"the catalog chooses the path of {table}, as which the dataset is deployed"
    summary = f"{wrong}, got {shown(node.text('path'))}"
    scope.findings.add("V216", node.values["path"], summary, f"delete the path, or write `format: {LANDED}`")


def _note_kept(kept: list[tuple[ScalarNode, DatasetFormat]], default: DatasetFormat, scope: Scope) -> None:
    """Report the first dataset, with the number of all: notes must not displace errors."""
    key, format = kept[0]
    more = f", and {len(kept) - 1} more of this app" if len(kept) > 1 else ""
    scope.findings.add(
        "L460",
        key,
        f"a dataset keeps the format with which it is deployed, got {shown(key.value)}{more}: deployed as "
        f'"{format}", and the default is "{default}"',
        f'write `format: {format}`, or default_format = "{format}" in [warehouse] of tidegate.toml; for '
        f"{default}, let the program write a dataset of another name",
    )

"""Incremental reads: whether it can be told what is new, and whether the outputs keep what they have.

What is new comes once. So a source must only ever grow (files that are landed, an Iceberg
table that is appended to) or say itself what is new, and an output that replaced its rows
would lose what earlier runs have read. And it comes to one run: a partition that lies in
several output partitions would be taken whole by the first of their runs. Judged over the
whole app, since it depends on who else writes the dataset.
"""

from collections.abc import Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.model import App, Dataset, PartitionScheme, Program
from tidegate.domain.time.cycle import is_finer
from tidegate.domain.wording import shown

KEEPS = ("append", "merge")
"""Write modes that leave the rows of earlier runs where they are."""

_OWN_SOURCE = "read all of it, or write a source of your own: incremental: my_feeds.orders"


def check_incremental(app: App, nodes: Mapping[str, MappingNode], findings: Findings) -> None:
    """Report what cannot be read incrementally, and outputs that would forget.

    Args:
        nodes: the programs as they stand in the file, by name.
    """
    for program in app.programs.values():
        if not program.incremental:
            continue
        for entry in nodes[program.name].items("reads"):
            if isinstance(entry, MappingNode) and entry.text("dataset") in program.incremental:
                _check_source(app, program, entry, findings)
                _check_spread(app, program, entry, findings)
        for name in nodes[program.name].strings("writes"):
            _check_output(app.datasets.get(str(name.value)), program, name, findings)


def _check_source(app: App, program: Program, entry: MappingNode, findings: Findings) -> None:
    name = entry.text("dataset")
    dataset, place = app.datasets.get(name), entry.values["incremental"]
    if dataset is None:
        return
    fault = None
    if name in program.writes:
        fault = (
            f"a program cannot follow what it writes itself, got {shown(name)}",
            "read all of it, or let another program write it",
        )
    elif program.incremental[name] is True:
        fault = _fault_of_format(app, dataset)
    if fault is not None:
        findings.add("L414", place, *fault)


def _check_spread(app: App, program: Program, entry: MappingNode, findings: Findings) -> None:
    source = app.datasets.get(entry.text("dataset"))
    for output in (app.datasets.get(name) for name in program.writes):
        if source is None or output is None or output.partitions is None:
            continue
        if not _lies_in_one(source.partitions, output.partitions):
            cut = " and ".join(output.partitions.dimension_names())
            findings.add(
                "L416",
                entry.values["incremental"],
                f"each partition of {source.name} must lie in a single one of {output.name}, got "
                f"{shown(source.name)} cut less finely than by {cut}",
                f"cut it at least as finely, or let {program.name} write a dataset without partitions",
            )
            return


def _lies_in_one(source: PartitionScheme | None, output: PartitionScheme) -> bool:
    """Return whether the rows of a partition of the source go into a single partition of the output."""
    if source is None:
        return False
    if output.time is not None and (source.time is None or is_finer(output.time.cycle, source.time.cycle)):
        return False
    return output.static is None or (source.static is not None and source.static.name == output.static.name)


def _fault_of_format(app: App, dataset: Dataset) -> tuple[str, str] | None:
    """Return why the format of a dataset does not tell what is new, with a hint."""
    writers = sorted(p.name for p in app.programs.values() if dataset.name in p.writes)
    if dataset.format == "iceberg":
        if writers and dataset.write_mode() != "append":
            wrong = f"{writers[0]} replaces rows of {dataset.name}, so what is new cannot be told"
            return f"{wrong}, got `write: {dataset.write_mode()}`", f"let it append, or {_OWN_SOURCE}"
        return None
    if dataset.path is None:
        wrong = f"files that are landed need a `path`, got {shown(dataset.name)} without"
        return wrong, "give the dataset a path, such as landing/flights"
    if writers:
        wrong = f"{writers[0]} writes {dataset.name}, and only landed files tell what is new in Parquet"
        return f"{wrong}, got `incremental: true`", f"give it the format iceberg, or {_OWN_SOURCE}"
    return None


def _check_output(dataset: Dataset | None, program: Program, name: ScalarNode, findings: Findings) -> None:
    if dataset is None or dataset.write_mode() in KEEPS:
        return
    source = next(iter(program.incremental))
    findings.add(
        "L415",
        name,
        f"{program.name} reads only what is new of {source}, so {dataset.name} must keep the rows it has, "
        f"got `write: {dataset.write_mode()}`",
        "write append or merge for the dataset",
    )

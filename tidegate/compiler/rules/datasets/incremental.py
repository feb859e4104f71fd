"""The rules for incremental reading: the source must show its new data, and the outputs must keep rows.

New data is read once. So a source must only grow (landed files, an Iceberg table that is appended to) or
be a source module, and an output that replaces its rows would lose the data of earlier runs. New data is
read by one run: the first run would read a source partition that belongs to several output partitions
completely. The rules need the whole app, since other programs may write the dataset.
"""

from collections.abc import Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode, ScalarNode
from tidegate.domain.model import App, Dataset, PartitionScheme, Program, TimeDimension
from tidegate.domain.model.table_format import FORMATS, format_facts
from tidegate.domain.part_name import is_of_other, name_in
from tidegate.domain.time.cycle import is_finer
from tidegate.domain.wording import shown

KEEPS = ("append", "merge")
"""Write modes that keep the rows of earlier runs."""

_SHOW_NEW_ROWS = " or ".join(name for name, facts in FORMATS.items() if facts.shows_new_rows)
_OWN_SOURCE = "read all of it, or write a source of your own: incremental: my_feeds.orders"


def check_incremental(app: App, nodes: Mapping[str, MappingNode], findings: Findings) -> None:
    """Report sources that cannot be read incrementally, and outputs that do not keep their rows.

    Args:
        app: the app, with the parts of other apps that its programs read.
        nodes: the nodes of the app's own programs, by name.
    """
    for program in app.programs.values():
        if not program.incremental or is_of_other(program.name):
            continue
        for entry in nodes[program.name].items("reads"):
            if isinstance(entry, MappingNode) and _source(entry, app) in program.incremental:
                _check_source(app, program, entry, findings)
                _check_spread(app, program, entry, findings)
        for name in nodes[program.name].strings("writes"):
            _check_output(app.datasets.get(name_in(app.name, str(name.value))), program, name, findings)


def _source(entry: MappingNode, app: App) -> str:
    """Return the name of the dataset of an entry of `reads`, as the model has it."""
    return name_in(app.name, entry.text("dataset"))


def _check_source(app: App, program: Program, entry: MappingNode, findings: Findings) -> None:
    name = _source(entry, app)
    dataset, place = app.datasets.get(name), entry.values["incremental"]
    if dataset is None:
        return
    fault = None
    if name in program.writes:
        fault = (
            f"a program cannot read its own output incrementally, got {shown(name)}",
            "read all of it, or let another program write it",
        )
    elif program.incremental[name] is True:
        fault = _fault_of_format(app, dataset)
    if fault is not None:
        findings.add("L414", place, *fault)


def _check_spread(app: App, program: Program, entry: MappingNode, findings: Findings) -> None:
    source = app.datasets.get(_source(entry, app))
    for output in (app.datasets.get(name) for name in program.writes):
        if source is None or output is None or output.partitions is None:
            continue
        if not _lies_in_one(source.partitions, output.partitions):
            cut = " and ".join(output.partitions.dimension_names())
            findings.add(
                "L416",
                entry.values["incremental"],
                f"each partition of {source.name} must be within a single partition of {output.name}, got "
                f"{shown(source.name)}, which is not partitioned as finely as by {cut}",
                f"partition {source.name} at least by {cut}, "
                f"or let {program.name} write a dataset without partitions",
            )
            return


def _lies_in_one(source: PartitionScheme | None, output: PartitionScheme) -> bool:
    """Return whether the rows of a partition of the source go into a single partition of the output."""
    if source is None:
        return False
    if output.time is not None and (source.time is None or is_finer(output.time.cycle, source.time.cycle)):
        return False
    if output.time is not None and source.time is not None and _other_weeks(source.time, output.time):
        return False
    return output.static is None or (source.static is not None and source.static.name == output.static.name)


def _other_weeks(one: TimeDimension, other: TimeDimension) -> bool:
    """Return whether both have weeks, which begin on different days."""
    return one.cycle == other.cycle == "week" and one.week_starts != other.week_starts


def _fault_of_format(app: App, dataset: Dataset) -> tuple[str, str] | None:
    """Return why the format of a dataset does not show new data, with a hint."""
    writers = sorted(p.name for p in app.programs.values() if dataset.name in p.writes)
    facts = format_facts(dataset.format)
    if facts.shows_new_rows:
        if writers and dataset.write_mode() != "append":
            wrong = f"{writers[0]} replaces rows of {dataset.name}, so new rows cannot be found"
            return f"{wrong}, got `write: {dataset.write_mode()}`", f"let it append, or {_OWN_SOURCE}"
        return None
    if dataset.path is None:
        wrong = f"landed files need a `path`, got {shown(dataset.name)} without one"
        return wrong, "give the dataset a path, such as landing/flights"
    if writers:
        wrong = f"{writers[0]} writes {dataset.name}, and in {facts.title} only landed files show what is new"
        return f"{wrong}, got `incremental: true`", f"give it the format {_SHOW_NEW_ROWS}, or {_OWN_SOURCE}"
    return None


def _check_output(dataset: Dataset | None, program: Program, name: ScalarNode, findings: Findings) -> None:
    if dataset is None or dataset.write_mode() in KEEPS:
        return
    source = next(iter(program.incremental))
    findings.add(
        "L415",
        name,
        f"{program.name} reads only new data of {source}, so {dataset.name} must keep its rows, "
        f"got `write: {dataset.write_mode()}`",
        "write append or merge for the dataset",
    )

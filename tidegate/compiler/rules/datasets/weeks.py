"""The rule that a program's inputs and outputs agree on the weeks.

A run that writes a week reads that week of its weekly inputs. Weeks that begin on different days have no
common key, so the run would read nothing.
"""

from collections.abc import Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings
from tidegate.compiler.reader.node import MappingNode
from tidegate.domain.model import App, Dataset, Program, TimeDimension
from tidegate.domain.part_name import is_of_other


def check_weeks(app: App, nodes: Mapping[str, MappingNode], findings: Findings) -> None:
    """Report each program that reads and writes weeks that begin on different days.

    Args:
        app: the app, with the parts of other apps that its programs read.
        nodes: the nodes of the app's own programs, by name.
    """
    for program in (each for each in app.programs.values() if not is_of_other(each.name)):
        for read in _weekly(app, program.reads):
            _check(read, program, app, nodes[program.name], findings)


def _check(
    read: tuple[Dataset, TimeDimension], program: Program, app: App, node: MappingNode, findings: Findings
) -> None:
    source, weeks = read
    for output, own in _weekly(app, program.writes):
        if own.week_starts == weeks.week_starts:
            continue
        findings.add(
            "L430",
            node.keys["reads"],
            f"a run that writes a week reads the same week, got {source.name} with weeks from "
            f"{weeks.week_starts} for {output.name} with weeks from {own.week_starts}",
            "write the same `week_starts` for both, or once for the app",
        )
        return


def _weekly(app: App, names: tuple[str, ...]) -> list[tuple[Dataset, TimeDimension]]:
    """Return the datasets whose partitions are weeks, each with its dimension of time."""
    found = (app.datasets[name] for name in names if name in app.datasets)
    cut = ((each, each.partitions.time) for each in found if each.partitions is not None)
    return [(each, time) for each, time in cut if time is not None and time.cycle == "week"]

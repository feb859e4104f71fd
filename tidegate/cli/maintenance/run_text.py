"""A run of an operation as text: its options, what it has changed, and what is special about it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from tidegate.domain.duration import duration_text
from tidegate.domain.model import Operation
from tidegate.domain.size import size_text
from tidegate.domain.wording import plural
from tidegate.scheduler.explain.operations.measure_text import value_text
from tidegate.scheduler.model.maintenance import Ending, OperationRun


def changes_text(run: OperationRun) -> str:
    """Return the measures that a run has changed: "files 120 -> 12, snapshots 30 -> 5"."""
    return ", ".join(f"{measure} {before} -> {after}" for measure, before, after in changed_measures(run))


def changed_measures(run: OperationRun) -> Iterator[tuple[str, str, str]]:
    """Yield each measure that is another one after a run, with both values as text."""
    for measure, before in run.before.items():
        after = run.after.get(measure)
        if after is not None and after != before:
            yield measure, value_text(measure, before), value_text(measure, after)


def option_text(operation: Operation, name: str, value: Any) -> str:
    """Return the value of an option as it is written in the YAML."""
    option = operation.options.get(name)
    match "plain" if option is None else option.kind:
        case "size":
            return size_text(int(value))
        case "duration":
            return duration_text(timedelta(seconds=value))
        case _:
            return str(value).lower() if isinstance(value, bool) else str(value)


def notes(run: OperationRun) -> list[str]:
    """Return what is special about a run."""
    flags = {"by hand": run.by_hand, "probe": run.probe, "forced": run.forced}
    found = [name for name, holds in flags.items() if holds]
    if run.excluded:
        found.append(f"without {plural(len(run.excluded), 'partition')}")
    if run.detail and run.ending is not Ending.SUCCEEDED:
        found.append(run.detail)
    return found

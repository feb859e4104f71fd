"""A job that is an operation on a table: what `jobs show` says of it besides what it says of every job."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from tidegate.listings.shown_job import OperationOfJob, ShownJob
    from tidegate.scheduler.model.maintenance import OperationRun

RESULTS_NAMED = 20
"""So many entries of one result are printed; `--format json` has all."""


def operation_fields(shown: "ShownJob", work: "OperationOfJob") -> Iterator[list[str]]:
    """Yield what an operation is about, and what its run has come to."""
    from tidegate.cli.maintenance.run_text import option_text
    from tidegate.domain.model import Operation

    yield ["table", work.table]
    yield ["operation", work.operation]
    yield ["policy", work.policy]
    flags = {"by hand": work.by_hand, "probe": work.probe, "forced": work.forced}
    if any(flags.values()):
        yield ["started as", ", ".join(name for name, holds in flags.items() if holds)]
    if work.then:
        yield ["then", ", ".join(operation for operation, _ in work.then)]
    if work.excluded:
        yield ["left out", ", ".join(work.excluded)]
    options: dict[str, Any] = {} if shown.launch is None else shown.launch.args.get("options", {})
    for name, value in options.items():
        yield ["option", f"{name} = {option_text(Operation(work.operation), name, value)}"]
    if shown.operation_run is not None:
        yield from _run_fields(shown.operation_run)


def _run_fields(run: "OperationRun") -> Iterator[list[str]]:
    from tidegate.cli.maintenance.run_text import changed_measures
    from tidegate.cli.printing import instant
    from tidegate.scheduler.explain.operations.measure_text import bytes_text

    if run.ending is None:
        yield ["timeout ends", instant(run.closes_at)]
        return
    yield ["operation ended", str(run.ending)]
    yield ["changed", "yes" if run.changed else "no"]
    if run.bytes:
        yield ["rewritten", bytes_text(run.bytes)]
    for measure, before, after in changed_measures(run):
        yield [measure, f"{before} -> {after}"]
    for name, value in run.results.items():
        yield from ([name, text] for text in _texts(value))


def _texts(value: Any) -> Iterator[str]:
    """Yield a result as text; a list or mapping one line for each of its first entries."""
    if isinstance(value, dict):
        entries = [f"{name}: {_text(each)}" for name, each in cast("dict[str, Any]", value).items()]
    elif isinstance(value, list):
        entries = [_text(each) for each in cast("list[Any]", value)]
    else:
        entries = [_text(value)]
    yield from entries[:RESULTS_NAMED]
    if len(entries) > RESULTS_NAMED:
        yield f"and {len(entries) - RESULTS_NAMED} more"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)

"""History: what the runs on a table have come to, after one more (docs/maintenance.md). Pure."""

import msgspec

from tidegate.scheduler.model.maintenance import Ending, OperationHistory, OperationRun, TableHistory

RATED_RUNS = 10
"""The failure rate of a table is that of so many runs."""


def after_run(history: TableHistory, run: OperationRun) -> TableHistory:
    """Return the history after a run.

    One that neither succeeded nor failed changes nothing, nor one of a table that has been gone since.
    """
    if run.ending not in (Ending.SUCCEEDED, Ending.FAILED):
        return history
    if history.since is not None and run.started_at < history.since:
        return history
    failed = run.ending is Ending.FAILED
    own = history.of(run.operation)
    own = _failed(own, run) if failed else _succeeded(own, run)
    return msgspec.structs.replace(
        history,
        recent=(*history.recent, failed)[-RATED_RUNS:],
        failures=history.failures + 1 if failed else 0,
        operations={**history.operations, run.operation: own},
    )


def _failed(own: OperationHistory, run: OperationRun) -> OperationHistory:
    return msgspec.structs.replace(own, failures=own.failures + 1, failed_start=run.started_at)


def _succeeded(own: OperationHistory, run: OperationRun) -> OperationHistory:
    return OperationHistory(
        zero_changes=0 if run.changed else own.zero_changes + 1,
        zero_start=None if run.changed else run.started_at,
        succeeded_at=run.ended_at,
    )

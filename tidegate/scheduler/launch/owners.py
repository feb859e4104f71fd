"""The processes of active runs: who works on a run, and until when its lease holds.

A run that is killed says nothing, and Dagster's default launcher forgets its runs with the code server. So
each run of a program records its process when it begins, and renews a lease while it works. A dispatcher
that finds the process ended reports the run as failed (`dagster_defs.run.dead_runs`). The record stays until
Dagster has an end of the run, since a process may die between its last step and that.
"""

from collections.abc import Collection
from datetime import datetime

import msgspec

from tidegate.domain.value import Value
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import Store

OWNERS = "run-owners"
"""Name of the cursor that holds the records, by run."""


class RunOwner(Value, kw_only=True):
    """The process of one active run.

    Attributes:
        instance: id of the Dagster instance that has the run: several may share a store.
        process: see `spark_jobs.commit.process`.
        until: when its lease ends unless it is renewed.
        version: of Tidegate, that its process has loaded; "" if it is not known.
    """

    instance: str
    process: str
    until: datetime
    version: str = ""


def owners(reader: EngineReader) -> dict[str, RunOwner]:
    """Return the owners of active runs, by run id."""
    return msgspec.convert(reader.cursor(OWNERS) or {}, dict[str, RunOwner])


def own(store: Store, run_id: str, owner: RunOwner) -> None:
    """Record or renew the owner of a run."""
    with store.transaction() as transaction:
        found = owners(transaction) | {run_id: owner}
        transaction.set_cursor(OWNERS, msgspec.to_builtins(found))


def disown(store: Store, run_ids: Collection[str]) -> None:
    """Remove the owners of runs that have ended."""
    if not run_ids:
        return
    with store.transaction() as transaction:
        kept = {run: owner for run, owner in owners(transaction).items() if run not in run_ids}
        transaction.set_cursor(OWNERS, msgspec.to_builtins(kept))

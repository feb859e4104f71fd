"""Where each project of the store has its data, recorded at its deployments.

A deployment compares its folders with those of the other projects (`compiler.plan.shared_folders`).
"""

import msgspec

from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.protocol import EngineTransaction

RECORD = "storages"
"""Name of the cursor that holds the record."""


def storages_of(reader: EngineReader) -> dict[str, Storage]:
    """Return where each project has its data, by project."""
    return msgspec.convert(reader.cursor(RECORD) or {}, dict[str, Storage])


def record_storage(transaction: EngineTransaction, scope: Scope) -> None:
    """Record where the project of a deployment has its data, if that is known and new."""
    known = storages_of(transaction)
    if scope.storage is not None and known.get(scope.project) != scope.storage:
        transaction.set_cursor(RECORD, msgspec.to_builtins({**known, scope.project: scope.storage}))

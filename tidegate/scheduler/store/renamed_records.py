"""Records under the new names of datasets, schedules and apps, in any store.

Records that a part left behind long ago under a name that another one has now are replaced. Apps,
subscriptions and overrides are put by the caller, and specifications stay what was deployed.
"""

from collections.abc import Callable, Collection
from typing import Any, TypeVar

import msgspec

from tidegate.compiler.plan.renames import Renames
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, MAINTENANCE_RECORDS
from tidegate.scheduler.model.records.expected import (
    EXPECTED_DATA,
    EXPECTED_PERIODS,
    LATE_TOTALS,
    LateTotal,
)
from tidegate.scheduler.model.records.watched import WATCHED_FOLDERS, WATCHED_PARTITIONS
from tidegate.scheduler.store.engine_rows import ChangedRecords
from tidegate.scheduler.store.renamed_maintenance import renamed_record, renamed_table

V = TypeVar("V", bound=Value)

OF_DATASETS: tuple[Kind[Any], ...] = (WATCHED_FOLDERS, WATCHED_PARTITIONS, EXPECTED_DATA, EXPECTED_PERIODS)
"""Kinds whose keys begin with a dataset."""


def rename_records(store: ChangedRecords, names: Renames) -> None:
    """Give records their new names."""
    for kind in OF_DATASETS:
        moved = store.records(kind, dataset=names.datasets)
        store.drop_records(kind, {*names.datasets, *names.datasets.values()})
        renamed = [msgspec.structs.replace(each, dataset=names.datasets[each.dataset]) for each in moved]
        store.put_records(kind, renamed)
    move_records(store, MAINTAINED_TABLES, lambda table: renamed_table(table, names))
    move_records(store, MAINTENANCE_RECORDS, lambda record: renamed_record(record, names))
    left = [total for total in store.records(LATE_TOTALS) if _is_left(total, names)]
    move_records(store, LATE_TOTALS, lambda total: _renamed_total(total, names), left)


def move_records(
    store: ChangedRecords, kind: Kind[V], renamed: Callable[[V], V], left: Collection[V] = ()
) -> None:
    """Move the records that have other names now; those that were left under the new ones go."""
    pairs = [(old, renamed(old)) for old in store.records(kind)]
    moved = [(old, new) for old, new in pairs if old != new]
    store.drop_records(kind, [kind.key_of(each) for each in (*left, *(old for old, _ in moved))])
    store.put_records(kind, [new for _, new in moved])


def _renamed_total(total: LateTotal, names: Renames) -> LateTotal:
    of_dataset = total.kind == "dataset"
    new = names.datasets.get(total.name, total.name) if of_dataset else names.schedule(total.name)
    return msgspec.structs.replace(total, name=new)


def _is_left(total: LateTotal, names: Renames) -> bool:
    """Return whether a total is of an earlier part with a name that a renamed one has now."""
    if total.kind == "dataset":
        return total.name in names.datasets.values()
    return total.name in names.schedules.values() or app_of(total.name) in names.apps.values()

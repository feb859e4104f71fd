"""The registry of operations on tables, with the facts that the engine and the language ask of each.

What an operation does is a file in the folder of a table format, such as `spark_jobs/maintenance/iceberg/`,
with a line in its `format.py`. The schema of the language has the same names and options.
"""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Any, Literal

from tidegate.domain.size import MB
from tidegate.domain.value import Value

Kind = Literal["size", "duration", "plain"]
"""A plain value is kept as it is written."""

Values = dict[str, Any]
"""Options by name, written or default: sizes in bytes, durations in seconds."""

LEAST_ORPHAN_AGE = timedelta(days=1)
"""Files that a run is writing are in no snapshot yet; no run takes longer."""


class Option(Value, kw_only=True):
    """One option of an operation.

    Attributes:
        default: None if it has none. It is then absent if it is not written, and left to the operation.
        least_age: files that are removed are at least so old; the option is that age.
    """

    kind: Kind
    default: Any = None
    least_age: timedelta | None = None


class OperationFacts(Value, kw_only=True):
    """What the engine and the language ask of an operation.

    Attributes:
        options: by name (docs/language.md, "Policies").
        rewrites_data: whether it replaces data files: it leaves out the partitions that pipelines write.
    """

    options: Mapping[str, Option] = {}
    rewrites_data: bool = False


class Operation(StrEnum):
    """An operation on a table. Several due ones of a table run one after the other, in this order."""

    REWRITE_DATA_FILES = "rewrite_data_files"
    REWRITE_MANIFESTS = "rewrite_manifests"
    EXPIRE_SNAPSHOTS = "expire_snapshots"
    REMOVE_ORPHAN_FILES = "remove_orphan_files"

    @property
    def rewrites_data(self) -> bool:
        """Whether it replaces data files."""
        return FACTS[self].rewrites_data

    @property
    def options(self) -> Mapping[str, Option]:
        """Its options, by name."""
        return FACTS[self].options

    def with_defaults(self, written: Values) -> Values:
        """Return its options: those that are written, and the defaults of the others."""
        found = {name: written.get(name, option.default) for name, option in self.options.items()}
        return {name: value for name, value in found.items() if value is not None}


FACTS = {
    Operation.REWRITE_DATA_FILES: OperationFacts(
        rewrites_data=True,
        options={
            "strategy": Option(kind="plain", default="binpack"),
            "target_file_size": Option(kind="size", default=512 * MB),
            "min_input_files": Option(kind="plain", default=5),
            "delete_file_threshold": Option(kind="plain"),
            "rewrite_all": Option(kind="plain", default=False),
            "max_commits": Option(kind="plain", default=10),
        },
    ),
    Operation.REWRITE_MANIFESTS: OperationFacts(),
    Operation.EXPIRE_SNAPSHOTS: OperationFacts(
        options={
            "older_than": Option(kind="duration", default=timedelta(days=5).total_seconds()),
            "retain_last": Option(kind="plain", default=1),
        }
    ),
    Operation.REMOVE_ORPHAN_FILES: OperationFacts(
        options={
            "older_than": Option(
                kind="duration", default=timedelta(days=3).total_seconds(), least_age=LEAST_ORPHAN_AGE
            )
        }
    ),
}

ORDER = {operation: place for place, operation in enumerate(Operation)}
"""The place of each operation among those of a table."""

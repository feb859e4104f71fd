"""Options of operations: what kind of value each takes, and its default (docs/language.md, "Policies").

A policy keeps its options with their values, written or default: sizes in bytes, durations in seconds. An
option without a default is absent if it is not written, and is then left to what carries out the operation.
"""

from datetime import timedelta
from typing import Any, Literal

from tidegate.domain.maintenance.measures import DAY
from tidegate.domain.model.maintenance import MB, Operation
from tidegate.domain.value import Value

Kind = Literal["size", "duration", "plain"]
"""A plain value is kept as it is written."""

Values = dict[str, Any]
"""Options by name."""

LEAST_ORPHAN_AGE = timedelta(days=1)
"""Files that a run is writing are in no snapshot yet; no run takes longer."""


class Option(Value, kw_only=True):
    """One option; `default` is None if it has none."""

    kind: Kind
    default: Any = None


OPTIONS: dict[Operation, dict[str, Option]] = {
    Operation.REWRITE_DATA_FILES: {
        "strategy": Option(kind="plain", default="binpack"),
        "target_file_size": Option(kind="size", default=512 * MB),
        "min_input_files": Option(kind="plain", default=5),
        "delete_file_threshold": Option(kind="plain"),
        "rewrite_all": Option(kind="plain", default=False),
        "max_commits": Option(kind="plain", default=10),
    },
    Operation.REWRITE_MANIFESTS: {},
    Operation.EXPIRE_SNAPSHOTS: {
        "older_than": Option(kind="duration", default=5 * DAY),
        "retain_last": Option(kind="plain", default=1),
    },
    Operation.REMOVE_ORPHAN_FILES: {
        "older_than": Option(kind="duration", default=3 * DAY),
    },
}
"""Every option, by operation and name."""


def with_defaults(operation: Operation, written: Values) -> Values:
    """Return the options of an operation: those that are written, and the defaults of the others."""
    found = {name: written.get(name, option.default) for name, option in OPTIONS[operation].items()}
    return {name: value for name, value in found.items() if value is not None}

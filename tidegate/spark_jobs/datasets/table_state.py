"""The state of an output when its run began, before the run read any input.

A publish compares it with the state that it replaces: what others have changed in between was not read by
the run, so publishing over it would lose their changes.
"""

from tidegate.domain.value import Value


class TableState(Value, kw_only=True, omit_defaults=True):
    """A state of a table; all zero for a table that was never written.

    Attributes:
        token: the largest fencing token that has written it.
        number: how many versions (Parquet) or publishes (Iceberg) it has had.
        snapshot: id of the current snapshot (Iceberg).
    """

    token: int = 0
    number: int = 0
    snapshot: int = 0

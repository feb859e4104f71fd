"""The health of a table: what was measured of it, and when."""

from datetime import datetime

from tidegate.domain.value import Value


class Health(Value, kw_only=True):
    """What was measured of a table.

    Attributes:
        values: by measure, in its unit; one that could not be measured is absent.
        failure: why nothing could be measured; "" if something was.
        failing_since: when the first of these failures in a row was; None if something was measured.
        note: for people: the bound of values that were extrapolated from a sample.
    """

    measured_at: datetime
    values: dict[str, float] = {}
    failure: str = ""
    failing_since: datetime | None = None
    note: str = ""

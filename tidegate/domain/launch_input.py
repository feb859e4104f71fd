"""What a run was launched with, besides keys: sizes and times of partitions, and what of its trigger held."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from tidegate.domain.value import Value
from tidegate.domain.wording import first_of

KEYS_SHOWN = 3
"""So many missing partition keys are named in one line; the others are counted."""


class UpstreamRun(Value, kw_only=True, rename={"id": "run_id"}):
    """A run that satisfied a `run` trigger of the job. In JSON its id is "run_id".

    Attributes:
        id: id of the run.
        program: "app/program".
        status: succeeded, failed, cancelled or started.
        args: its arguments; empty for an external run.
        outputs: the partition keys of its outputs, by dataset.
    """

    id: str
    program: str
    status: str
    args: dict[str, Any] = {}
    outputs: dict[str, tuple[str, ...]] = {}


class PartitionInput(Value, kw_only=True, array_like=True):
    """What is known of one collected partition. It is an array in JSON: a launch may have many partitions.

    Attributes:
        rows: number of rows of the newest report that says so, None if no report does; of a dataset without
            partitions the sum of all reports.
        bytes: the same for its size in bytes.
        updates: number of reports of the partition that the job collected.
        first_time: event time of the first of these reports, aware, UTC.
        last_time: event time of the last one.
    """

    rows: int | None
    bytes: int | None
    updates: int
    first_time: datetime
    last_time: datetime


class MissingMember(Value, kw_only=True):
    """A member of the trigger that did not hold when the run was launched without it.

    Attributes:
        kind: its key in the YAML, also that of a composite which waited for its `quiet` only.
        member: its place in the trigger: member numbers from 0 joined by ".", "" for a trigger without
            members.
        of: the dataset or the program that it is about; None for a cron and a composite.
        name: its name (`as`), None without one.
        keys: the partition keys that it lacked, where they can be named.
    """

    kind: str
    member: str
    of: str | None = None
    name: str | None = None
    keys: tuple[str, ...] = ()


class Fired(Value, kw_only=True):
    """A member of the trigger that held when the run was launched.

    Attributes:
        kind: its key in the YAML: `cron`, `partitions`, `size`, `run` or `elapsed`.
        member: its place in the trigger: member numbers from 0 joined by ".", "" for a trigger without
            members.
        of: the dataset or the program that it is about; None for a cron.
        name: its name (`as`), None without one.
    """

    kind: str
    member: str
    of: str | None = None
    name: str | None = None


def early_text(missing: Sequence[MissingMember]) -> str:
    """Return in one line that a run is provisional, and why; "" for one that has all."""
    return f"provisional, {without_text(missing)}" if missing else ""


def without_text(missing: Sequence[MissingMember]) -> str:
    """Return in one line what a run was launched without; "" for one that has all."""
    return f"without {'; '.join(map(_missing_text, missing))}" if missing else ""


def _missing_text(missing: MissingMember) -> str:
    what = (
        missing.name
        or missing.of
        or (f"member {missing.member} ({missing.kind})" if missing.member else missing.kind)
    )
    return f"{what} {first_of(missing.keys, KEYS_SHOWN)}" if missing.keys else what

"""Maintenance in the queue: what makes a job an operation on a table, and what the store knows of tables.

    Record          (policy, operation, table): when it runs next, and its waiting or running job
    TableState      one table: its health as last measured, and what its runs so far have come to
    OperationRun    one run of an operation, from its start to its end

A due operation is a job that waits in PENDING_CONSTRAINT; a poll starts it (docs/maintenance.md).
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from tidegate.domain.maintenance.reported import Ended as Ended
from tidegate.domain.maintenance.reported import Ending as Ending
from tidegate.domain.maintenance.reported import Health as Health
from tidegate.domain.model import Operation
from tidegate.domain.part_name import Ref
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.reason import Reason


class Work(Value, kw_only=True):
    """What makes a job an operation on a table.

    Attributes:
        operation: its name.
        table: its full name: "catalog.namespace.table", or "app/dataset".
        policy: "app/policy".
        by_hand: a person asked for it; it moves no next run.
        probe: it is the one attempt after a throttle.
        forced: its thresholds did not hold, but `at_latest` had come.
        excluded: keys of the partitions that it leaves out, as pipelines write them; fixed at its start.
        then: by hand: the operations that follow when it has ended, each with its policy.
    """

    table: str
    operation: Operation
    policy: str
    by_hand: bool = False
    probe: bool = False
    forced: bool = False
    excluded: tuple[str, ...] = ()
    then: tuple[tuple[Operation, str], ...] = ()


class OperationHistory(Value, kw_only=True):
    """What the runs of one operation on a table have come to; only succeeded and failed ones count.

    Attributes:
        failures: number of failures in a row, the newest run included.
        failed_start: start of the newest failure of that row.
        zero_changes: number of runs in a row that changed nothing; failures between them do not count.
        zero_start: start of the newest run of that row.
        succeeded_at: end of the last successful run.
    """

    failures: int = 0
    failed_start: datetime | None = None
    zero_changes: int = 0
    zero_start: datetime | None = None
    succeeded_at: datetime | None = None


class Untouched(StrEnum):
    """Why a policy starts nothing on the table of a dataset."""

    NEVER_PUBLISHED = "never published"
    LANDED = "landed files"

    @property
    def sentence(self) -> str:
        """One sentence for people."""
        if self is Untouched.NEVER_PUBLISHED:
            return "it was never published: operations are due from its first publish on"
        return "its files are landed from outside: there is nothing to maintain"


class TableHistory(Value, kw_only=True):
    """What the runs on a table have come to, of all operations.

    Attributes:
        recent: of the last ten runs that succeeded or failed, whether each failed; the newest last.
        failures: number of failures in a row, the newest run included.
        operations: by operation.
        since: only runs that started at that instant or later count: the table has been gone before it.
        matched_at: of each policy ("app/policy") that matches the table the first poll at which it did.
        untouched: why polls start nothing on it; None for a table that exists, as far as is known.
    """

    recent: tuple[bool, ...] = ()
    failures: int = 0
    operations: dict[Operation, OperationHistory] = {}
    since: datetime | None = None
    matched_at: dict[str, datetime] = {}
    untouched: Untouched | None = None

    def of(self, operation: Operation) -> OperationHistory:
        """Return the history of an operation."""
        return self.operations.get(operation, OperationHistory())


class TableState(Value, kw_only=True):
    """One table that the store knows.

    Attributes:
        name: its one name everywhere: "app/dataset" for the table of a dataset, else its catalog name.
        catalog_name: "catalog.namespace.table"; "" for a dataset that is in no catalog.
        dataset: "app/dataset"; None for any other table.
        health_policy: "app/policy" whose rules of health count for it; None for the defaults.
        gone: it exists no longer.
        health: None while nothing is known: never measured, or forgotten by a write or an operation.
        changed_at: when it was last written, or an operation on it ended, as far as is known. What was
            measured before does not count.
        wanted_at: since when a decision waits for it to be measured; None if none does.
    """

    name: str
    catalog_name: str = ""
    dataset: str | None = None
    health_policy: str | None = None
    gone: bool = False
    health: Health | None = None
    changed_at: datetime | None = None
    wanted_at: datetime | None = None
    history: TableHistory = TableHistory()


MAINTAINED_TABLES = Kind(name="maintained_tables", value=TableState, key=("name",), due="wanted_at")


class Record(Value, kw_only=True):
    """What is known of one operation of one policy on one table.

    Attributes:
        seen_at: the first poll at which the policy matched the table.
        counts: whether its policy is the one that counts for this operation on this table.
        next_run: when it is due; None if it has never run, and is due at once.
        due_since: since when it is due, as a poll saw it; None while it is not.
        last_start: of its last run by a poll.
        next_look: the next poll that looks at it; None until something else changes.
        job: its job that waits or runs.
        reason: why its job waits, as the last poll that looked at it has found.
    """

    policy: str
    operation: Operation
    table: str
    seen_at: datetime
    counts: bool = True
    next_run: datetime | None = None
    due_since: datetime | None = None
    last_start: datetime | None = None
    next_look: datetime | None = None
    job: str | None = None
    reason: Reason | None = None

    @property
    def key(self) -> tuple[str, Operation, str]:
        return self.policy, self.operation, self.table


MAINTENANCE_RECORDS = Kind(
    name="maintenance_records",
    value=Record,
    key=("policy", "operation", "table"),
    order=("table", "operation", "policy"),
    due="next_look",
)


class OperationRun(Value, kw_only=True):
    """One run of an operation on a table.

    Attributes:
        table, operation: which, and on what.
        policy: "app/policy".
        by_hand, probe, forced, excluded: as its job has them.
        started_at, ended_at: when it began, and ended; None while it runs.
        job: id of its job, which has this one run.
        closes_at: when it is ended as failed if nothing was heard of its end: its timeout.
        ending: None while it runs.
        changed: whether it changed any file, byte, manifest, snapshot, delete or orphan file.
        bytes: that it rewrote.
        before, after: what was measured by the run itself, by measure.
        results: what the operation says of its work: files rewritten, snapshots kept and why, and so on.
        detail: for people: why it failed, or was stopped.
    """

    job: str
    table: str
    operation: Operation
    policy: str
    by_hand: bool = False
    probe: bool = False
    forced: bool = False
    excluded: tuple[str, ...] = ()
    started_at: datetime
    closes_at: datetime
    ended_at: datetime | None = None
    ending: Ending | None = None
    changed: bool = False
    bytes: int = 0
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    results: dict[str, Any] = {}
    detail: str = ""


POLICY = "policy:"
"""How the name begins under which jobs of a policy are kept, in its app."""


def policy_ref(policy: str) -> str:
    """Return the name under which jobs of a policy ("app/policy") are kept beside those of schedules."""
    app, name = Ref.of(policy)
    return f"{app}/{POLICY}{name}"


def table_resource(table: str) -> str:
    """Return the resource of which a run of an operation holds the only slot."""
    return f"table:{table}"


def operation_program(operation: Operation) -> str:
    """Return what is in place of a program in the launch of an operation; no program has such a name."""
    return f"maintain:{operation}"

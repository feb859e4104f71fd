"""*Tables*: the tables that maintenance knows, with their health as it was measured last, and their debt."""

from collections import Counter
from enum import StrEnum

from tidegate.domain.value import Value
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing

SEVERITIES = ("critical", "warning", "info")


class Sort(StrEnum):
    """The order of the tables; the name decides between equal ones."""

    DEBT = "debt"
    NAME = "name"
    FILES = "files"
    SMALL_FILES = "small_file_percent"
    SIZE = "total_size"
    SNAPSHOTS = "snapshots"
    DELETE_FILES = "delete_files"
    FAILURES = "failures"
    AGE = "age"


class HealthOfTable(Value, kw_only=True):
    """What was measured of a table.

    Attributes:
        measured_at: when.
        values: by measure, in its unit; one that could not be measured is absent.
        failure: why nothing could be measured; "" if something was.
        failing_since: when the first of these failures in a row was; null if something was measured.
        note: for people: the bound of values that were extrapolated from a sample.
    """

    measured_at: Instant
    values: dict[str, float]
    failure: str
    failing_since: Instant | None
    note: str


class IssueOfTable(Value, kw_only=True):
    """One issue of a table.

    Attributes:
        severity: critical, warning or info.
        measure: of which.
        value: what was measured.
        limit: from where on it has this severity; equality is enough.
    """

    severity: str
    measure: str
    value: float
    limit: float


class DebtOfTable(Value, kw_only=True):
    """The debt of a table.

    Attributes:
        score: the sum of the parts, bounded.
        parts: `issues`, `stale`, `failure_rate` and `failures_in_a_row`; those that are 0 are left out.
        issues: the issues that it counts.
    """

    score: float
    parts: dict[str, float]
    issues: tuple[IssueOfTable, ...]


class TableFacts(Value, kw_only=True):
    """What is known of a table that is maintained.

    Attributes:
        table: "catalog.namespace.table", or "app/dataset".
        catalog_name: of a dataset, the table in the catalog; null for none.
        dataset: "app/dataset"; null for a table of a catalog that is none.
        health: as measured last; null if nothing is known.
        age_seconds: how long ago it was measured.
        usable: whether a decision would use what was measured.
        measurement_asked_for: since when a person waits for a new measurement.
        debt: with the failures of the table.
        failures_in_a_row: of runs of operations on it.
        health_policy: the policy whose limits count; null for the defaults.
    """

    table: str
    catalog_name: str | None
    dataset: str | None
    health: HealthOfTable | None
    age_seconds: float | None
    usable: bool
    measurement_asked_for: Instant | None
    debt: DebtOfTable
    failures_in_a_row: int
    health_policy: str | None


class MaintainedTable(TableFacts, kw_only=True):
    """A table that maintenance knows.

    Attributes:
        rank: its place in the order that was asked for, the smallest first; null before all others.
    """

    rank: float | None = None

    @property
    def score(self) -> float:
        return self.debt.score

    @property
    def issues(self) -> str:
        counted = Counter(issue.severity for issue in self.debt.issues)
        return ", ".join(f"{counted[each]} {each}" for each in SEVERITIES if counted[each])

    @property
    def failure(self) -> str:
        return "" if self.health is None else self.health.failure

    @property
    def files(self) -> float | None:
        return self.measure("files")

    @property
    def small_file_percent(self) -> float | None:
        return self.measure("small_file_percent")

    @property
    def total_size(self) -> float | None:
        return self.measure("total_size")

    @property
    def snapshots(self) -> float | None:
        return self.measure("snapshots")

    @property
    def delete_files(self) -> float | None:
        return self.measure("delete_files")

    def measure(self, name: str) -> float | None:
        """Return what was measured; None for what was not."""
        return None if self.health is None else self.health.values.get(name)


COMMANDS = "tidegate.scheduler.commands.maintain"

TABLES = Listing(
    name="tables",
    title="Maintenance",
    help="List all tables with their debt and their health as measured last; the largest debt first.",
    item=MaintainedTable,
    query="tidegate.listings.queries.tables:list_tables",
    filters=(
        Filter("app", "app", "Only the tables of datasets of this app."),
        Filter(
            "sort",
            "state",
            "By name, or the largest first; `age`: measured longest ago first.",
            of="tidegate.listings.tables:Sort",
        ),
    ),
    columns=(
        Column("table", "table", 1),
        Column("score", "measure", 1, "debt"),
        Column("issues", "text", 1),
        Column("files", "measure", 1),
        Column("small_file_percent", "measure"),
        Column("total_size", "measure"),
        Column("snapshots", "measure"),
        Column("delete_files", "measure"),
        Column("failures_in_a_row", "number", 2, "failures"),
        Column("age_seconds", "age", 1, "measured"),
        Column("failure", "text", 2, "not measured"),
    ),
    order=("rank", "table"),
    actions=(
        Action(
            "run",
            f"{COMMANDS}:run_by_hand",
            f"{COMMANDS}:check_run",
            "Runs an operation on it now, whatever its schedule and its thresholds say.",
            takes=("operation", "reason"),
        ),
    ),
)

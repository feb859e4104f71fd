"""*Ledger*: what became of the events of each schedule."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Listing


class Balance(Value, kw_only=True):
    """The events of a schedule; one counts once for each job that it was delivered to.

    Attributes:
        schedule: "app/name"; it may be deleted.
        landed: all of them: consumed, pending and discarded.
        consumed: those that a run was launched with: succeeded, running and failed.
        succeeded: those of jobs whose run succeeded.
        running: those of jobs whose run has not ended.
        failed: those of jobs whose last run failed or was cancelled.
        pending: those of jobs that wait, also for a further attempt, or whose run does not exist yet.
        discarded: those that no run was launched with.
        failures: the failed ones by reason code.
        reasons: the discarded ones by reason code.
    """

    schedule: str
    landed: int
    consumed: int
    succeeded: int
    running: int
    failed: int
    pending: int
    discarded: int
    failures: dict[str, int]
    reasons: dict[str, int]

    @property
    def app(self) -> str:
        return app_of(self.schedule)

    @property
    def why(self) -> str:
        """All reasons with their numbers, on one line."""
        return ", ".join(f"{count} {code}" for code, count in {**self.failures, **self.reasons}.items())


LEDGER = Listing(
    name="ledger",
    title="Ledger",
    help="Balance the events: landed = consumed by runs (succeeded, running, failed) + pending + discarded.",
    item=Balance,
    query="tidegate.listings.queries.ledger:list_balances",
    filters=(
        Filter("app", "app", "Only schedules of this app."),
        Filter("schedule", "schedule", '"app/schedule", or its name if one app has it.', gone=True),
    ),
    columns=(
        Column("schedule", "schedule", 1),
        Column("landed", "number", 1),
        Column("succeeded", "number", 1),
        Column("running", "number", 1),
        Column("failed", "number", 1),
        Column("pending", "number", 1),
        Column("discarded", "number", 1),
        Column("why", "text", 2, "reasons"),
    ),
    order=("schedule",),
)

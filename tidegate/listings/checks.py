"""*Checks*: what the checks of datasets have found, in the newest run of each and in those before."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class JudgedCheck(Value, kw_only=True):
    """What a check of a dataset has found in the rows of a run.

    Attributes:
        dataset: "app/name".
        name: of the check, unique in its dataset.
        kind: rows, not_null, unique, values, range, matches, change, reference, sql or run.
        severity: block or warn.
        state: passed or failed.
        found: one line for people.
        rows: rows that were judged.
        bad: rows that break it; of `rows` and `change` partitions.
        partitions: of `rows` and `change` some of the partitions that break it.
        samples: keys of some rows that break it, by column; null is null.
        at: when it was judged.
        commit: of the run.
        token: fencing token of the run: a later run has a larger one.
        withheld: whether the rows of the run are withheld.
    """

    dataset: str
    name: str
    kind: str
    severity: str
    state: str
    found: str
    rows: int
    bad: int
    partitions: tuple[str, ...]
    samples: tuple[dict[str, str | None], ...]
    at: Instant
    commit: str
    token: int
    withheld: bool

    @property
    def app(self) -> str:
        return app_of(self.dataset)


CHECKS = Listing(
    name="checks",
    title="Checks",
    help="List what the checks of each dataset have found in the newest rows that a run has staged.",
    item=JudgedCheck,
    query="tidegate.listings.queries.checks:list_checks",
    filters=(
        Filter("app", "app", "Only checks of datasets of this app."),
        Filter("dataset", "dataset", 'Only checks of this "app/dataset".', gone=True),
        Filter("failed", "flag", "Only those that have failed, or only the others."),
        Filter("history", "flag", "Of one dataset: also what was found in the runs before."),
    ),
    columns=(
        Column("dataset", "dataset", 1),
        Column("name", "id", 1, "check"),
        Column("state", "state", 1),
        Column("severity", "text", 1),
        Column("found", "text", 1),
        Column("at", "instant", 1, "judged"),
        Column("withheld", "flag", 2),
        Column("commit", "commit", 3),
        Column("kind", "text", 3),
        Column("rows", "number", 3),
        Column("bad", "number", 3),
    ),
    order=("dataset", "name", "-token"),
)

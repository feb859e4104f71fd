"""*Late*: unfinished jobs past their deadline, and periods of datasets that are late or were."""

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class Late(Value, kw_only=True):
    """Something that is late, or was.

    Attributes:
        kind: schedule, task or dataset.
        name: "app/name".
        key: of the job, or the period of the dataset.
        job: the late job; "" for a dataset.
        due: when it had to be done; None where its schedule has no deadline any longer.
        deadline: as the YAML has it, in words; "" where there is none any longer.
        late_at: when it was noted.
        over_at: when the period landed after all; None while it is late.
        missing: the partitions that have not landed, of a period with several.
        owner: of the schedule or dataset.
    """

    kind: str
    name: str
    key: str
    job: str = ""
    due: Instant | None
    deadline: str
    late_at: Instant
    over_at: Instant | None = None
    missing: tuple[str, ...] = ()
    owner: str = ""

    @property
    def app(self) -> str:
        return app_of(self.name)


LATE = Listing(
    name="late",
    title="Late",
    help="List jobs and data that have missed their deadline, the newest deadline first.",
    item=Late,
    query="tidegate.listings.queries.late:list_late",
    filters=(
        Filter("app", "app", "Only of this app."),
        Filter("dataset", "dataset", 'Only of "app/dataset", or of its name if one app has it.'),
        Filter("now", "flag", "Only what is late now (the default); else also what has landed since."),
    ),
    columns=(
        Column("kind", "text", 1, "what"),
        Column("name", "part", 1),
        Column("key", "id", 1),
        Column("due", "instant", 1),
        Column("deadline", "text"),
        Column("late_at", "instant", 1, "since"),
        Column("job", "job"),
        Column("over_at", "instant", 2, "landed"),
        Column("missing", "list"),
        Column("owner", "text", 3),
    ),
    order=("-due", "kind", "name", "key", "job"),
)

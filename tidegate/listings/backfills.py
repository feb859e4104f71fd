"""*Backfills*: tasks and schedules that are run for dates and keys of the past, and how far each is."""

from tidegate.domain.value import Value
from tidegate.domain.wording import first_of, plural
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing


class BackfillRequest(Value, kw_only=True):
    """What was asked for.

    Attributes:
        number: of the backfill, from 1 in the order of the requests.
        task: the task or schedule that was asked for; null for a whole app.
        app: its app.
        tasks: all tasks and schedules ("app/name") that have instances in it.
        disabled: tasks of the app, or upstream ones, that are left out because they are disabled, and
            upstream schedules that have no keys.
        from_: the first business date or key.
        to: the last one, included.
        keys: those that were named in place of a range.
        which: those of them that were chosen: missing, failed, stale or all.
        lot: how many dates run at once.
        priority: of its instances among all ready jobs; null comes after all others.
        by: who asked for it.
        requested_at: when.
        quiet_downstream: what it publishes starts no schedule.
        cancelled_at: when it was cancelled; null if it was not, or was resumed since.
        resumed: how often it was resumed.
    """

    number: int
    task: str | None
    app: str
    tasks: tuple[str, ...]
    disabled: tuple[str, ...]
    from_: str
    to: str
    keys: tuple[str, ...]
    which: str
    lot: int
    priority: str | None
    quiet_downstream: bool
    by: str
    requested_at: Instant
    cancelled_at: Instant | None
    resumed: int


class BackfillProgress(Value, kw_only=True):
    """A backfill, and how far it is.

    Attributes:
        id: its number.
        backfill: what was asked for.
        state: what it is doing: running, done, stopped by a failure, cancelled, or cancelled, ends.
        total: how many instances it has, without empty runs.
        counts: the same by status.
    """

    id: int
    backfill: BackfillRequest
    state: str
    total: int
    counts: dict[str, int]

    @property
    def app(self) -> str:
        return self.backfill.app

    @property
    def has_ended(self) -> bool:
        """Whether it goes on only if a person does something."""
        return self.state in ("done", "stopped by a failure", "cancelled")

    @property
    def of(self) -> str:
        """What was asked for, in words."""
        one = self.backfill
        if one.task is None:
            return f"app {one.app}"
        ref = one.task if "/" in one.task else f"{one.app}/{one.task}"
        others = sum(task != ref for task in one.tasks)
        return f"{ref} and {plural(others, 'other')}" if others else ref

    @property
    def dates(self) -> str:
        """Its dates or keys, in words."""
        one = self.backfill
        several = first_of(one.keys, KEYS_SHOWN) if one.keys else f"{one.from_} to {one.to}"
        return several if one.which == "all" else f"{several}, {one.which}"

    @property
    def lot(self) -> int:
        return self.backfill.lot

    @property
    def requested_at(self) -> Instant:
        return self.backfill.requested_at

    @property
    def by(self) -> str:
        return self.backfill.by


class ShownBackfill(BackfillProgress, kw_only=True):
    """A backfill, and how far it is by business date.

    Attributes:
        id: its number.
        backfill: what was asked for.
        state: what it is doing: running, done, stopped by a failure, cancelled, or cancelled, ends.
        total: how many instances it has, without empty runs.
        counts: the same by status.
        by_date: the same by business date and status.
    """

    by_date: dict[str, dict[str, int]]


COMMANDS = "tidegate.scheduler.commands.backfills.cancel"

KEYS_SHOWN = 3
"""So many of the keys that were named are shown in a list."""

BACKFILLS = Listing(
    name="backfills",
    title="Backfills",
    help="List the backfills, the newest first: what was asked for, its state, and its instances by status.",
    item=BackfillProgress,
    query="tidegate.listings.queries.backfills:list_backfills",
    filters=(
        Filter("app", "app", "Only those of this app."),
        Filter(
            "task",
            "task",
            'Only those with this task or schedule: "app/name", or its name if one app has it.',
            or_schedule=True,
        ),
        Filter("since", "instant", "Only those that were asked for at or after this instant."),
    ),
    columns=(
        Column("id", "backfill", 1, "backfill"),
        Column("of", "id", 1),
        Column("dates", "text", 1, "dates or keys"),
        Column("lot", "number", 1),
        Column("state", "text", 1),
        Column("counts", "counts", 1, "instances"),
        Column("requested_at", "instant", 3),
        Column("by", "text", 3),
    ),
    order=("-id",),
    actions=(
        Action(
            "cancel",
            f"{COMMANDS}:cancel_backfill",
            f"{COMMANDS}:check_cancel",
            "Discards its instances that do not run yet; what runs or is done stays.",
        ),
        Action(
            "resume",
            f"{COMMANDS}:resume_backfill",
            f"{COMMANDS}:check_resume",
            "Makes the instances again that its cancel has discarded.",
        ),
    ),
)

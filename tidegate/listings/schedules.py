"""*Schedules*: the deployed schedules and tasks, with the keys of their YAML as they were written."""

from dataclasses import replace
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from tidegate.domain.value import Value
from tidegate.listings.listing import Action, Column, Filter, Instant, Listing

WORDS = (
    *("description", "program", "for_each", "priority", "batching", "on_suspend", "on_update", "sensor"),
    *("owner", "type", "dataset", "cycle", "update", "business_date", "timezone"),
)
"""The keys of the YAML of a schedule or task whose values are texts."""

KEYS = (
    *WORDS,
    *("trigger", "constraints", "timeout", "retries", "deadline", "args", "max_batch", "collect_existing"),
    *("output_partition", "renamed_from", "alerts", "at", "depends_on", "enabled", "valid_from", "valid_to"),
    *("calendar", "catch_up_at_most", "repair"),
)
"""All of them, but for `status`."""


class Named(Value, kw_only=True):
    """A schedule or task by its name.

    Attributes:
        namespace: of the project that owns the app.
        app: of the schedule.
        name: within the app.
    """

    namespace: str
    app: str
    name: str


Written = cast(
    "type[Named]",
    msgspec.defstruct(
        "Written",
        [(key, (str if key in WORDS else Any) | UnsetType, UNSET) for key in KEYS],
        bases=(Named,),
        kw_only=True,
        namespace={
            "__doc__": "The YAML of a schedule or task.\n\n    Attributes:\n"
            + "".join(f"        {key}: as it was written, see docs/language.md.\n" for key in KEYS)
        },
    ),
)
"""The YAML of a schedule or task: what was not written is absent."""


class Schedule(Written, kw_only=True):
    """A schedule or task: the keys of its YAML, and what the store knows of it; it may be sent again.

    Attributes:
        status: what holds now, whatever was written.
        revision: number of the changes of its specification and status, from 1.
        source: who created it: a deployment of its app, or a call for it alone.
        suspended_at: since when it is suspended; null if it was created so, absent while it is active.
    """

    status: Literal["active", "suspended"]
    revision: Annotated[int, msgspec.Meta(ge=1)]
    source: Literal["deploy", "api"]
    suspended_at: Instant | UnsetType | None = UNSET


class ListedSchedule(Schedule, kw_only=True):
    """A schedule or task in a list.

    Attributes:
        ref: "app/name".
        trigger_type: the kind of the root of its trigger; "task" for a task.
        trigger_text: its trigger in words.
        next_fire_at: the next fire of its cron, or the start of the next instance of a task.
        zone: of its times.
        waiting_jobs: how many of its jobs wait.
        overrides: what was changed of it by hand, in words.
        changed_by: what set the status last: "deploy", or who did it by hand.
        active_since: when it last became active; earlier fires and events do not count.
        deployed_at: when it was created, or its specification changed last.
    """

    ref: str
    trigger_type: str
    trigger_text: str
    next_fire_at: Instant | None
    zone: str
    waiting_jobs: int
    overrides: tuple[str, ...]
    changed_by: str
    active_since: Instant | None
    deployed_at: Instant


ADDED = {*ListedSchedule.__struct_fields__} - {*KEYS, "status"}
"""Fields that are not of the YAML; a caller may send them back."""

BY_HAND = "tidegate.scheduler.commands.by_hand"
REVERTS = "tidegate.scheduler.commands.reverts"

SCHEDULES = Listing(
    name="schedules",
    title="Schedules",
    help="List the deployed schedules and tasks, by app and name.",
    item=ListedSchedule,
    query="tidegate.listings.queries.schedules:list_schedules",
    filters=(
        Filter("app", "app", "Only those of this app."),
        Filter(
            "trigger-type",
            "state",
            "Only those whose trigger has this root.",
            of="tidegate.listings.queries.schedules:TriggerType",
        ),
        Filter(
            "schedule-status",
            "state",
            "Only those with this status; an active one is also called scheduled.",
            of="tidegate.listings.queries.schedules:Status",
        ),
        Filter("program", "text", "Only those of this program."),
    ),
    columns=(
        Column("ref", "schedule", 1, "schedule"),
        Column("status", "state", 1),
        Column("program", "text", 1),
        Column("trigger_type", "text", 3, "kind"),
        Column("trigger_text", "text", 1, "trigger"),
        Column("next_fire_at", "instant", 1),
        Column("waiting_jobs", "number", 1, "waiting"),
        Column("owner", "text", 3),
        Column("overrides", "list", 3),
    ),
    order=("ref",),
    actions=(
        Action(
            "trigger",
            f"{BY_HAND}.manual:trigger",
            f"{BY_HAND}.manual:check_trigger",
            "Counts the trigger as met; window and slots still apply.",
            takes=("key", "reason"),
        ),
        Action(
            "force",
            f"{BY_HAND}.manual:trigger",
            f"{BY_HAND}.manual:check_trigger",
            "Starts at once, past window and other constraints, but not past slots.",
            given=(("force", True),),
            takes=("key", "reason"),
        ),
        Action(
            "suspend",
            f"{BY_HAND}.manual:suspend",
            f"{BY_HAND}.manual:check_suspend",
            "Starts nothing new of it until it is resumed.",
            takes=("reason", "expires"),
        ),
        Action(
            "resume",
            f"{BY_HAND}.manual:resume",
            f"{BY_HAND}.manual:check_resume",
            "Makes it active: events and fires from now on count.",
            takes=("reason", "expires"),
        ),
        Action(
            "revert",
            f"{REVERTS}:revert",
            f"{REVERTS}:check_revert",
            "Takes back what was changed of it by hand.",
        ),
    ),
)

APP_ACTIONS = (
    Action(
        "hold",
        f"{BY_HAND}.held_apps:hold_app",
        f"{BY_HAND}.held_apps:check_hold",
        "Launches nothing of the app until it is released; nothing is discarded.",
        takes=("reason", "expires"),
    ),
    Action(
        "release",
        f"{BY_HAND}.held_apps:release_app",
        f"{BY_HAND}.held_apps:check_release",
        "Launches the app again: first what was decided meanwhile.",
    ),
)
"""What is done to an app whole."""

TRIGGERED = replace(
    SCHEDULES,
    help="List the schedules whose trigger, or a member of it, waits for runs of a program.",
    query="tidegate.listings.queries.schedules:list_triggered",
    filters=(
        Filter("trigger-app-name", "text", "The app of the program; needed."),
        Filter("trigger-program-name", "text", "The program; needed."),
        Filter(
            "trigger-program-statuses",
            "state",
            "Only those that wait for runs that end so; empty: all.",
            of="tidegate.listings.queries.schedules:RunStatus",
        ),
    ),
)
"""The list of those that a program triggers; REST has it."""

"""*Overrides*: what was changed by hand in all apps, by whom, why and until when."""

from typing import Any, Literal

from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class RevertsTo(Value, kw_only=True):
    """What an override reverts to.

    Attributes:
        status: of kind "status", or the one to create the schedule with, of "deleted"; null for any other.
        specification: the keys of the YAML, of kinds "specification" and "deleted"; null for any other.
    """

    status: Literal["active", "suspended"] | None
    specification: dict[str, Any] | None


class OverriddenField(Value, kw_only=True):
    """A field at which a schedule differs from what was deployed.

    Attributes:
        path: such as "timeout.after".
        deployed: its value as it was deployed; null where there is none.
        override: its value as it is; null where there is none.
    """

    path: str
    deployed: Any
    override: Any


class Override(Value, kw_only=True):
    """What was changed by hand.

    Attributes:
        app: of the schedule, or the one on hold.
        schedule: its name; null for an app on hold.
        kind: what was changed: status, specification, created, deleted, or held for an app on hold.
        override: the same in words: suspended, active, changed, created, deleted or on hold.
        owner: who did it.
        reason: why; "" without one.
        since: when it began, or was changed last.
        expires_at: when it reverts by itself; null for never.
        reverts: what becomes of it when it reverts, in words: "is active again".
        reverts_to: what is in force then.
        fields: at which the schedule differs; empty where it is deleted, or created by hand.
    """

    app: str
    schedule: str | None
    kind: Literal["status", "specification", "created", "deleted", "held"]
    override: str
    owner: str
    reason: str
    since: Instant
    expires_at: Instant | None
    reverts: str
    reverts_to: RevertsTo
    fields: tuple[OverriddenField, ...]

    @property
    def ref(self) -> str:
        """The schedule as "app/name", or the app on hold."""
        return self.app if self.schedule is None else f"{self.app}/{self.schedule}"


OVERRIDES = Listing(
    name="overrides",
    title="Overrides",
    help="List what differs from the deployments by hand: what, by whom, since and until when, why.",
    item=Override,
    query="tidegate.listings.queries.overrides:list_overrides",
    filters=(Filter("app", "app", "Only those of this app."),),
    columns=(
        Column("ref", "part", 1, "schedule"),
        Column("override", "text", 1),
        Column("owner", "text"),
        Column("since", "instant", 1),
        Column("expires_at", "instant", 1),
        Column("reason", "text", 1),
    ),
    order=("app", "schedule", "kind"),
)

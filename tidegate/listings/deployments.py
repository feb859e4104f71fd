"""*Deployments*: when what was deployed, by whom and why, and what each changed."""

from collections import Counter
from collections.abc import Iterator

from tidegate.domain.value import Value
from tidegate.listings.listing import Column, Filter, Instant, Listing


class ChangedApp(Value, kw_only=True):
    """What a deployment did with an app.

    Attributes:
        action: create, change or delete.
        schedules: what it did with each schedule and task, by name.
        parts: what it did with the others, such as "change datasets.raw".
    """

    action: str
    schedules: dict[str, str]
    parts: tuple[str, ...]


class LoggedDeployment(Value, kw_only=True):
    """A deployment.

    Attributes:
        number: by which it is named.
        at: when it was made.
        by: who made it; "" if that is not known.
        reason: why, as that person has written it.
        update_schedules: whether schedules followed the YAML.
        force: whether it was forced.
        rollback_to: the deployment that it has repeated; null for none.
        apps: what it did with each app that it has changed.
    """

    number: int
    at: Instant
    by: str
    reason: str
    update_schedules: bool
    force: bool
    rollback_to: int | None
    apps: dict[str, ChangedApp]

    @property
    def changed(self) -> str:
        """What it did, in a few words."""
        return "; ".join(self._summaries())

    def _summaries(self) -> Iterator[str]:
        for name, change in self.apps.items():
            counts = sorted(Counter(change.schedules.values()).items())
            parts = ", ".join(f"{action} {count}" for action, count in counts)
            yield f"{change.action} {name}" + (f" (schedules: {parts})" if parts else "")


DEPLOYMENTS = Listing(
    name="deployments",
    title="Deployments",
    help="List the deployments, the newest first: when, by whom, why, and what each changed.",
    item=LoggedDeployment,
    query="tidegate.listings.queries.deployments:list_deployments",
    filters=(
        Filter("app", "app", "Only what changed this app, and of that its changes.", gone=True),
        Filter("by", "text", "Only deployments of this person or token."),
        Filter("since", "instant", "Only deployments of this instant or later."),
    ),
    columns=(
        Column("number", "deployment", 1),
        Column("at", "instant", 1),
        Column("by", "text", 1),
        Column("changed", "changes", 1),
        Column("rollback_to", "deployment"),
        Column("reason", "text", 1),
        Column("force", "flag", 3),
        Column("update_schedules", "flag", 3),
    ),
    order=("-number",),
)

"""What a deployment does to an override, and its three views: git, deployed last, and in force. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Literal

from tidegate.compiler.plan.part_change import field_changes
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value

Fate = Literal["kept", "replaced", "deleted"]

View = dict[str, Any] | None


class ThreeViews(Value, kw_only=True):
    """A field at which the views differ.

    Attributes:
        path: as that of `FieldChange`.
        git, deployed, override: the values in canonical form; None where the field or schedule is absent.
    """

    path: str
    git: Any = None
    deployed: Any = None
    override: Any = None


class OverrideChange(Value, kw_only=True):
    """An override, and what a deployment does to it.

    Attributes:
        kind: what was changed by hand.
        owner, reason: who did it, and why.
        since, expires_at: when it began, and reverts by itself; None for never.
        ref: "app/schedule", or the app of kind `held`.
        fate: it stays, the YAML replaces it, or it goes with its schedule.
        fields: where the views differ; none for a schedule that was created or deleted, and for an app.
    """

    ref: str
    kind: Literal["status", "specification", "created", "deleted", "held"]
    owner: str
    reason: str
    since: datetime
    expires_at: datetime | None
    fate: Fate
    fields: tuple[ThreeViews, ...] = ()

    @property
    def app(self) -> str:
        return app_of(self.ref)


def three_views(git: View, deployed: View, override: View) -> Iterator[ThreeViews]:
    """Yield the fields at which any two of three canonical forms differ."""
    from_git = {each.path: each for each in field_changes(git or {}, override or {})}
    from_deployed = {each.path: each for each in field_changes(deployed or {}, override or {})}
    for path in sorted(from_git.keys() | from_deployed.keys()):
        one, other = from_git.get(path), from_deployed.get(path)
        now = one.new if one is not None else other.new if other is not None else None
        yield ThreeViews(
            path=path,
            git=now if one is None else one.old,
            deployed=now if other is None else other.old,
            override=now,
        )

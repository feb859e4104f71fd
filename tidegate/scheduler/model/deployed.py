"""What is deployed: the rows of the schedule store that say which apps and schedules exist.

The store, not the YAML, is the source of truth (docs/concepts.md). An app's row holds its datasets
and programs; each schedule has a row of its own, since schedules can change without their
app, and carries its status and its place in time.
"""

from datetime import datetime
from typing import Literal

import msgspec

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import App, Schedule
from tidegate.domain.value import Value

Status = Literal["active", "suspended"]


class DeployedApp(Value, kw_only=True):
    """An app without its schedules (`app.schedules` is empty here).

    Attributes:
        revision: counts the deployments that touched this app, from 1.
        project: the project that owns the app; NO_PROJECT until a project deploys an app of this name.
    """

    app: App
    revision: int
    deployed_at: datetime
    project: str = NO_PROJECT

    @property
    def name(self) -> str:
        return self.app.name


class ScheduleState(Value, kw_only=True):
    """A deployed schedule and its status.

    Attributes:
        ref: "app/name".
        fingerprint: of `spec`, see tidegate.compiler.plan.fingerprint.
        changed_by: who set the status last: deploy, cli, ui.
        active_since: when it last became active; fires before this are not its own.
        fires_after: every fire up to this instant has been accounted for.
        next_fire_at: the earliest coming fire of its crons and clocks; None without any, or while it is
            suspended and takes nothing new.
        clocks: from when each `elapsed` leaf counts, by path; absent once it has fired for good.
    """

    ref: str
    spec: Schedule
    fingerprint: str
    status: Status
    changed_by: str = "deploy"
    active_since: datetime | None = None
    fires_after: datetime | None = None
    next_fire_at: datetime | None = None
    clocks: dict[str, datetime] = {}
    deployed_at: datetime

    @property
    def app(self) -> str:
        return self.ref.partition("/")[0]

    @property
    def name(self) -> str:
        return self.ref.partition("/")[2]

    @property
    def active(self) -> bool:
        return self.status == "active"

    @property
    def holding(self) -> bool:
        """Suspended in a way that keeps what waits until it is resumed (rule 10)."""
        return not self.active and self.spec.on_suspend in ("hold", "backlog")


def whole_app(deployed: DeployedApp, schedules: tuple[ScheduleState, ...]) -> App:
    """The app as the model knows it: with the schedules that are deployed for it."""
    mine = {s.name: s.spec for s in sorted(schedules, key=lambda s: s.name) if s.app == deployed.name}
    return msgspec.structs.replace(deployed.app, schedules=mine)

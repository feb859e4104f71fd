"""Deployed apps and schedules: the rows of the schedule store that say which ones exist.

The store, not the YAML, is the source of truth (docs/concepts.md). An app's row holds its datasets
and programs. Each schedule has its own row with its status, fire times and timers, since a
schedule can change without its app.
"""

from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import App, Schedule
from tidegate.domain.part_name import DEFAULT_NAMESPACE, app_of, name_of
from tidegate.domain.tasks.grid import real_slots_after
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind

Status = Literal["active", "suspended"]
Source = Literal["deploy", "api"]

TASK_KIND = "task"
"""The kind of trigger by which lists tell tasks from schedules."""


class DeployedApp(Value, kw_only=True):
    """An app without its schedules (`app.schedules` is empty here).

    Attributes:
        revision: number of deployments that changed this app, from 1.
        project: the project that owns the app; NO_PROJECT until a project deploys an app of this name.
        namespace: of the project, when it deployed the app last.
        digest: of the whole app as a deployment has written it (`compiler.fingerprint.content_digest`); "" if
            it was changed since, or is not known.
    """

    app: App
    revision: int
    deployed_at: datetime
    project: str = NO_PROJECT
    namespace: str = DEFAULT_NAMESPACE
    digest: str = ""

    @property
    def name(self) -> str:
        return self.app.name


APPS = Kind(name="apps", value=DeployedApp, key=("name",))


class ScheduleState(Value, kw_only=True):
    """A deployed schedule and its status.

    Attributes:
        ref: "app/name".
        fingerprint: of `spec`, see `compiler.fingerprint`.
        changed_by: what set the status last: "deploy", or an actor as `By.actor`.
        active_since: when it last became active; earlier fires and events do not count.
        fires_after: every fire up to this instant is an event already.
        next_fire_at: the next fire of its crons and timers, of a task when instances are made next; None
            without one, and while it is suspended and takes no events.
        clocks: by the path of a leaf. Of an `elapsed` one the start of its timer; absent while that is
            stopped. Of a cron whose zone has changed the last fire that does not happen again.
        revision: number of the changes of its specification and status, from 1.
        source: who created it: a deployment of its app, or a call for it alone.
        overridden: its specification was changed by a call since its app was deployed.
        suspended_at: since when it is suspended; None while it is active, and if it was created suspended.
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
    revision: int = 1
    source: Source = "deploy"
    overridden: bool = False
    suspended_at: datetime | None = None

    @property
    def app(self) -> str:
        return app_of(self.ref)

    @property
    def name(self) -> str:
        return name_of(self.ref)

    @property
    def active(self) -> bool:
        return self.status == "active"

    def next_start(self, now: datetime) -> datetime | None:
        """Return the next fire, or of a task the start of its next instance, which is made long before."""
        if self.spec.task is None:
            return self.next_fire_at
        return next((slot.start for slot in real_slots_after(self.spec.task, now)), None)

    @property
    def fires(self) -> bool:
        """Whether its fires count; the instances of a suspended task go on being made."""
        return self.active or self.holding or self.spec.task is not None

    @property
    def holding(self) -> bool:
        """Whether it is suspended and keeps its waiting jobs until it is resumed (rule 10)."""
        return not self.active and self.spec.on_suspend in ("hold", "backlog")


V = TypeVar("V", App, Schedule)


def noted(spec: V) -> V:
    """Return a specification as the journal and snapshots have it: without its text."""
    return msgspec.structs.replace(spec, written={})


def whole_app(deployed: DeployedApp, schedules: tuple[ScheduleState, ...]) -> App:
    """Return the app of the domain model, with its deployed schedules."""
    own = {s.name: s.spec for s in sorted(schedules, key=lambda s: s.name) if s.app == deployed.name}
    return msgspec.structs.replace(deployed.app, schedules=own)

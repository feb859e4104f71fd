"""A deployment that is carried out: the one value that every stage is given (`compiler.plan.stages`).

What a later stage needs of an earlier one is written here, not read from the store again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from tidegate.compiler.plan.diff import Diff, ScheduleChange
from tidegate.domain.model import App
from tidegate.domain.time.expiry import Until
from tidegate.domain.value import Value
from tidegate.scheduler.commands.overrides import Cause
from tidegate.scheduler.model.deployed import ScheduleState, Source
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.protocol import EngineTransaction


class Deeds(Value, kw_only=True):
    """How a difference is carried out.

    Attributes:
        owners: the owner of each remaining app.
        namespace: of these apps from now on; None leaves it.
        source: who creates the schedules that are new. A call for one schedule makes a changed one an
            override, a deployment ends that.
        until: when the override of a call expires.
        cause: why overrides end.
        rollback_to: the deployment that is deployed once more.
        assume_published: every dataset has a table, as in examples.
    """

    owners: Mapping[str, str]
    namespace: str | None = None
    force: bool
    by: By
    source: Source = "deploy"
    until: Until | None = None
    cause: Cause = "deployed"
    rollback_to: int | None = None
    assume_published: bool = True


@dataclass(kw_only=True, slots=True)
class Deployment:
    """What is deployed, how, and what the stages so far have done.

    Attributes:
        wanted: the apps by name.
        apps: all apps that were deployed until now, by name.
        before: the schedules of apps that differ, as they were until now, by ref; set by stage "schedules".
        changed: those that it has written, by ref.
        listening: those of them that begin to listen to what their text names, in the order of the writing.
        collecting: those of them that may ask for what exists already.
    """

    transaction: EngineTransaction
    changes: Diff
    wanted: Mapping[str, App]
    deeds: Deeds
    now: datetime
    apps: Mapping[str, App]
    before: Mapping[str, ScheduleState] = field(default_factory=dict[str, ScheduleState])
    changed: Mapping[str, ScheduleState] = field(default_factory=dict[str, ScheduleState])
    listening: list[ScheduleState] = field(default_factory=list[ScheduleState])
    collecting: list[ScheduleState] = field(default_factory=list[ScheduleState])

    @property
    def after(self) -> Mapping[str, App]:
        """All apps that are deployed from now on, sorted by name."""
        gone = {change.name for change in self.changes.apps if change.action == "delete"}
        left = {name: app for name, app in self.apps.items() if name not in gone}
        return dict(sorted({**left, **self.changes.after}.items()))

    def touched(self) -> Iterator[ScheduleChange]:
        """Yield the changes of the schedules of all apps of which a row may change."""
        for app in self.changes.apps:
            if app.name not in self.changes.same:
                yield from app.schedules

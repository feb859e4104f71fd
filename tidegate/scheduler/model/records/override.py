"""Override: what a person has changed in production, beside the YAML, and the way back.

    status         a schedule is suspended by hand, or active for a time
    specification  the text of a schedule is another one than was deployed
    created        a schedule exists that no deployment has created
    deleted        a deployed schedule was deleted
    held           an app is on hold

A schedule has at most one override of its status and one of its text. It keeps what it reverts to, however
often the schedule is changed after that, and ends when this is in force again.
"""

from datetime import datetime
from typing import Literal

from tidegate.domain.model import Schedule
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import Status
from tidegate.scheduler.model.kind import Kind

OverrideKind = Literal["status", "specification", "created", "deleted", "held"]

TEXT_KINDS: frozenset[OverrideKind] = frozenset({"specification", "created", "deleted"})
"""The kinds of which a schedule has at most one."""


class Mark(Value, kw_only=True):
    """Who overrides, since when, why, and until when.

    Attributes:
        owner: as `By.actor`.
        since: aware, UTC.
        expires_at: when it reverts by itself; None for never.
    """

    owner: str
    reason: str = ""
    since: datetime
    expires_at: datetime | None = None


class Override(Value, kw_only=True):
    """An override; see `Mark` for who, why and until when.

    Attributes:
        ref: "app/schedule", or the app of kind `held`.
        since: when it began, or was changed last.
        spec: what it reverts to, of kinds `specification` and `deleted`; None if a version made it that kept
            no base.
        status: the status that it reverts to, of kind `status`; the one to create it with, of `deleted`.
    """

    ref: str
    kind: OverrideKind
    owner: str
    reason: str = ""
    since: datetime
    expires_at: datetime | None = None
    spec: Schedule | None = None
    status: Status | None = None

    @property
    def app(self) -> str:
        return app_of(self.ref)

    @property
    def name(self) -> str:
        """The name of the schedule; that of the app of kind `held`."""
        return self.ref.rpartition("/")[2]

    @property
    def of_text(self) -> bool:
        return self.kind in TEXT_KINDS


OVERRIDES = Kind(name="overrides", value=Override, key=("ref", "kind"), by=("app",), due="expires_at")

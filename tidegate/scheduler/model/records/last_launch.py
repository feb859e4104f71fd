"""The last launch of each key of a schedule, and what makes the next job of that key a repair (rule 30).

    launched ──► LastLaunch ──► an event that it lacked, or whose partition it consumed ──► Repairs of a job
                     ▲                                                                          │
                     └─────────────────────────────────── launched ─────────────────────────────┘

The deliveries of a launched job stay its own: a repair reads them when it is decided. So the ledger counts an
event once, whatever sees it.
"""

from datetime import datetime, timedelta

from tidegate.domain.model import Repair
from tidegate.domain.value import Value
from tidegate.scheduler.model.kind import Kind


class Repairs(Value, kw_only=True):
    """What makes a job a repair.

    Attributes:
        jobs: launched jobs of its key (ids) whose events it sees too, the oldest first; it replaces the
            result of the last one.
        since: when the first of them was launched, which was not a repair.
        number: which repair of that job it is; one that only follows a repair of its input is not counted.
        after: so long after its first event it holds, whole or not; None to wait as its trigger says.
    """

    jobs: tuple[str, ...]
    since: datetime
    number: int
    after: timedelta | None = None


class LastLaunch(Value, kw_only=True):
    """The last launched job of a key of a schedule with `for_each`.

    Attributes:
        schedule: "app/name".
        job: its id.
        jobs: the jobs whose events it saw, the oldest first: itself last.
        since, number: see `Repairs`; of a job that is not a repair its own launch, and 0.
        provisional: whether members of its trigger were missing.
        repair: of the schedule when it was launched; None for one that is not repaired.
    """

    schedule: str
    key: str
    job: str
    jobs: tuple[str, ...]
    since: datetime
    number: int = 0
    provisional: bool = False
    repair: Repair | None = None

    @property
    def awaits_repair(self) -> bool:
        """Whether its job is kept: what it lacks may come, or be replayed."""
        return self.provisional and self.repair is not None


LAST_LAUNCHES = Kind(name="last_launches", value=LastLaunch, key=("schedule", "key"))

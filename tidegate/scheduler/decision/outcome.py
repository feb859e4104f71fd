"""The outcome of a decision about one job, as a value, which `scheduler.tick.apply` writes."""

from datetime import datetime

from tidegate.domain.value import Value
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.queue import Needs
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.verdict import Verdict


class Wait(Value, kw_only=True):
    """Keep the job waiting and decide again later.

    Attributes:
        next_check: when to decide again, at the latest when the timeout discards it; None if only an event or
            a released slot can change the decision.
        discarded_at: when the timeout discards it.
        needs: of a job that is blocked, the resources that it needs a slot of, each with its limit.
        dropped: collected events that are too old for their `collect_within`; the writer of the decision
            removes them from the job.
    """

    state: JobState
    reason: Reason
    next_check: datetime | None
    discarded_at: datetime | None = None
    blocked_on: str | None = None
    needs: Needs = ()
    dropped: tuple[Delivery, ...] = ()

    @property
    def looked_at(self) -> datetime | None:
        """When time may change the decision before the discard; None if nothing but that is to come."""
        return None if self.next_check == self.discarded_at else self.next_check


class Discard(Value, kw_only=True):
    """Discard the job. `dropped` are as in `Wait`: all that the job has left.

    Attributes:
        since: the instant from which on its events leave it and open a job of their own; None for none.
    """

    reason: Reason
    since: datetime | None = None
    dropped: tuple[Delivery, ...] = ()


class Launch(Value, kw_only=True):
    """Launch the job. `overridden` lists the unmet constraints that a timeout or a person overrode."""

    overridden: tuple[Reason, ...] = ()


class Pass(Value, kw_only=True):
    """End the instance as successful: it has nothing to run, or an event (id) has reported it."""

    event: str | None = None


Outcome = Wait | Discard | Launch | Pass


class Decision(Value, kw_only=True):
    """The outcome, and the verdicts that it follows from.

    Attributes:
        satisfied_at: when the trigger was satisfied; None while it is not.
        deadline: when the job times out; None while the timeout has not started or is paused.
    """

    outcome: Outcome
    satisfied_at: datetime | None
    deadline: datetime | None
    trigger: Verdict
    constraints: tuple[Verdict, ...]

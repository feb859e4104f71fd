"""`concurrency`: met while fewer than `max` runs of the program, or of a group, are active.

Every active run counts, external runs too, and a job counts from PENDING_LAUNCH on: its slot is
taken in the transaction that decides the launch (rule 8).
"""

from datetime import datetime

from tidegate.domain.model import ConcurrencyConstraint
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.run import group_resource
from tidegate.scheduler.model.verdict import Verdict


def needs(constraint: ConcurrencyConstraint, view: JobView) -> tuple[str, int]:
    """Return the resource that it counts the slots of, and its limit."""
    resource = view.program_resource if constraint.group is None else group_resource(constraint.group)
    return resource, constraint.max


def check(constraint: ConcurrencyConstraint, view: JobView, now: datetime) -> Verdict:
    resource, _ = needs(constraint, view)
    taken = view.slots[resource]
    met = taken < constraint.max
    return Verdict(
        kind="concurrency",
        met=met,
        summary=f"{taken} of {constraint.max} slots of {resource.replace(':', ' ')} are taken",
        blocked_on=None if met else resource,
    )

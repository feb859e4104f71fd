"""`concurrency`: holds while fewer than `max` runs of the program, or of a group, are active.

Every active run counts, manual ones too, and a job counts from PENDING_LAUNCH on: the slot is
taken in the transaction that decides the launch (DESIGN rule 8).
"""

from datetime import datetime

from compiler.model import ConcurrencyConstraint
from scheduler.run import group_resource
from scheduler.slice import Slice
from scheduler.verdict import Verdict


def check(constraint: ConcurrencyConstraint, part: Slice, now: datetime) -> Verdict:
    """See `scheduler.constraints`."""
    resource = part.program_resource if constraint.group is None else group_resource(constraint.group)
    taken = part.slots[resource]
    met = taken < constraint.max
    return Verdict(
        kind="concurrency",
        met=met,
        summary=f"{taken} of {constraint.max} slots of {resource.replace(':', ' ')} are taken",
        blocked_on=None if met else resource,
    )

"""The queue of a blocked job: the jobs that wait for slots of the same resources, under the same limits.

    run ends ──► slots of resources are free ──► queues that need one of them are looked at
                 at the end's instant, the first jobs in launch order, as many as there is room for

A job waits in one queue, whichever of its resources is full, so a queue without room is passed over as a
whole. Only the jobs at its head are decided; the jobs behind them would wait in any case (rule 14).
The name of a queue is the JSON of its needs: pairs of a resource and the limit of its slots, which is null
for a resource that says nothing in advance (a gauge). Jobs that need no slot (of a gauge, an upstream
instance) are in no queue: a release makes each of them due.
"""

from collections.abc import Mapping

import msgspec

from tidegate.scheduler.model.job import Job

Needs = tuple[tuple[str, int], ...]
"""The resources that a job needs a slot of, each with the number of slots at which it is full."""


def queue_of(job: Job) -> str | None:
    """Return the queue that a job waits in; None for one that is in none."""
    if job.blocked_on is None or not job.needs or not job.decided_when_due:
        return None
    needs: dict[str, int | None] = {job.blocked_on: None}
    for resource, limit in job.needs:
        known = needs.get(resource)
        needs[resource] = limit if known is None else min(known, limit)
    return msgspec.json.encode(sorted(needs.items())).decode()


def needs_of(queue: str) -> Mapping[str, int | None]:
    """Return the limit of each resource of a queue; None for one without a limit that is known."""
    return dict(msgspec.json.decode(queue, type=list[tuple[str, int | None]]))


def room_in(queue: str, slots: Mapping[str, int]) -> int:
    """Return how many jobs of a queue there are slots for.

    Args:
        slots: the number of taken slots of each of its resources.
    """
    needs = needs_of(queue)
    return min(max(0, limit - slots[resource]) for resource, limit in needs.items() if limit is not None)

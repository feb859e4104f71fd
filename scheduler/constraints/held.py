"""`held`: a suspended schedule with `on_suspend: hold` or `backlog` launches nothing until it is resumed.

It stands in no YAML: it follows from the schedule's status, is checked after all constraints,
and is overridden by nothing but a person who triggers the job by hand (DESIGN rule 10).
"""

from scheduler.reason import Reason
from scheduler.slice import Slice
from scheduler.verdict import Verdict


def check(part: Slice) -> Verdict | None:
    """The verdict that holds the slice's job back; None for one that is not held."""
    if not part.held or part.job.by_hand is not None:
        return None
    return Verdict(
        kind="held",
        met=False,
        summary=f"{part.job.schedule} is suspended and holds what waits; `tidegate schedules resume`"
        " lets it go",
        reason=Reason.W_HELD,
        at=part.schedule.at,
    )

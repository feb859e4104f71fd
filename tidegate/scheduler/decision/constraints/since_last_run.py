"""`since_last_run`: met once a time has passed since the program's last successful run.

External runs count, failed runs do not, and it is unmet while a run is active (rules 7, 21).
"""

from datetime import datetime

from tidegate.domain.model import SinceLastRunConstraint
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.verdict import Verdict


def needs(constraint: SinceLastRunConstraint, view: JobView) -> tuple[str, int]:
    """Return the program and the limit: it is unmet while a run is active."""
    return view.program_resource, 1


def check(constraint: SinceLastRunConstraint, view: JobView, now: datetime) -> Verdict:
    kind = "since_last_run"
    active = view.slots[view.program_resource]
    program = view.schedule.program
    if active:
        return Verdict(
            kind=kind,
            met=False,
            summary=f"{active} run(s) of {program} are active",
            blocked_on=view.program_resource,
        )
    history = view.history
    start = constraint.measured_from == "start"
    last = history.last_success_started if start else history.last_success_ended
    if last is None:
        return Verdict(kind=kind, met=True, summary=f"{program} has not succeeded before")
    until = last + constraint.for_
    if now >= until:
        return Verdict(kind=kind, met=True, summary=f"last success of {program} at {last}", since=until)
    verb = "started" if start else "ended"
    return Verdict(
        kind=kind,
        met=False,
        summary=f"the last success of {program} {verb} at {last.isoformat()}; "
        f"{constraint.for_} after it is {until.isoformat()}",
        next_check=until,
    )

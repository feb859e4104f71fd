"""What is deployed and what is going on, in the form in which the compiler compares it.

`plan` shows this difference and `deploy` applies it, so both ask here.
"""

from collections.abc import Mapping

from compiler.diff import Diff, LiveState, diff
from compiler.model import App
from scheduler.deployed import whole_app
from scheduler.job import ACTIVE, WAITING, JobState
from scheduler.store.protocol import Reader


def deployed_apps(reader: Reader) -> dict[str, App]:
    """Every deployed app with its schedules, by name."""
    schedules = reader.schedules()
    return {deployed.name: whole_app(deployed, schedules) for deployed in reader.apps()}


def live_states(reader: Reader) -> dict[tuple[str, str], LiveState]:
    """What each deployed schedule has going on, by app and schedule."""
    jobs = reader.jobs(states=WAITING | ACTIVE)
    counts: dict[str, dict[str, int]] = {}
    for job in jobs:
        # A request may be out, but no run was seen: deleting the schedule still discards the job.
        unlaunched = job.state is JobState.PENDING_LAUNCH and job.run_id is None
        field = "waiting" if job.waiting else "pending_launch" if unlaunched else "active_runs"
        count = counts.setdefault(job.schedule, {})
        count[field] = count.get(field, 0) + 1
    return {
        (state.app, state.name): LiveState(status=state.status, **counts.get(state.ref, {}))
        for state in reader.schedules()
    }


def difference(reader: Reader, wanted: Mapping[str, App], *, update_schedules: bool = True) -> Diff:
    """The difference that a deployment of `wanted`, all apps of the project, would make."""
    return diff(deployed_apps(reader), wanted, update_schedules=update_schedules, live=live_states(reader))

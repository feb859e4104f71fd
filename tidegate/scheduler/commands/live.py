"""What is deployed and what is going on, in the form in which the compiler compares it.

`plan` shows this difference and `deploy` applies it, so both ask here.
"""

from collections.abc import Mapping, Sequence

import msgspec

from tidegate.compiler.plan.consequence import LiveState
from tidegate.compiler.plan.diff import Diff, carries, diff
from tidegate.compiler.plan.fingerprint import fingerprint
from tidegate.domain.model import App
from tidegate.scheduler.decision.carry import Carried, carry
from tidegate.scheduler.model.deployed import ScheduleState, whole_app
from tidegate.scheduler.model.job import ACTIVE, WAITING, Job, JobState
from tidegate.scheduler.store.protocol import Reader


def deployed_apps(reader: Reader) -> dict[str, App]:
    """Every deployed app with its schedules, by name."""
    schedules: dict[str, list[ScheduleState]] = {}
    for state in reader.schedules():
        schedules.setdefault(state.app, []).append(state)
    return {
        deployed.name: whole_app(deployed, tuple(schedules.get(deployed.name, ())))
        for deployed in reader.apps()
    }


def live_states(
    reader: Reader, deployed: Mapping[str, App], wanted: Mapping[str, App]
) -> dict[tuple[str, str], LiveState]:
    """What each deployed schedule has going on, by app and schedule.

    Args:
        wanted: the apps that are to be deployed, against which is counted what a change would carry.
    """
    states = {state.ref: state for state in reader.schedules()}
    live = {ref: LiveState(status=state.status) for ref, state in states.items()}
    waiting: dict[str, list[Job]] = {}
    for job in reader.jobs(states=WAITING | ACTIVE):
        if job.schedule not in live:
            continue
        live[job.schedule] = _with(live[job.schedule], job)
        if job.waiting:
            waiting.setdefault(job.schedule, []).append(job)
    coming = {ref: _coming(states[ref], deployed, wanted) for ref in waiting}
    carrying = {ref: state for ref, state in coming.items() if state is not None}
    deliveries = reader.deliveries([job.id for ref in carrying for job in waiting[ref]])
    for ref, state in carrying.items():
        app = wanted[state.app]
        carried = [carry(job, deliveries[job.id], state, app, job.opened_at) for job in waiting[ref]]
        live[ref] = _with_kept(live[ref], carried)
    return {(state.app, state.name): live[ref] for ref, state in states.items()}


def difference(reader: Reader, wanted: Mapping[str, App], *, update_schedules: bool = True) -> Diff:
    """The difference that a deployment of `wanted`, all apps of the project, would make."""
    deployed = deployed_apps(reader)
    live = live_states(reader, deployed, wanted)
    return diff(deployed, wanted, update_schedules=update_schedules, live=live)


def _with(live: LiveState, job: Job) -> LiveState:
    # A request may be out, but no run was seen: deleting the schedule still discards the job.
    unlaunched = job.state is JobState.PENDING_LAUNCH and job.run_id is None
    return msgspec.structs.replace(
        live,
        waiting=live.waiting + job.waiting,
        by_hand=live.by_hand + (job.waiting and job.by_hand is not None),
        pending_launch=live.pending_launch + unlaunched,
        active_runs=live.active_runs + (not job.waiting and not unlaunched),
    )


def _coming(
    state: ScheduleState, deployed: Mapping[str, App], wanted: Mapping[str, App]
) -> ScheduleState | None:
    """The schedule as it is to be, if it changes and carries its jobs."""
    app = wanted.get(state.app)
    spec = None if app is None else app.schedules.get(state.name)
    if spec is None or spec == state.spec or not carries(state.spec, spec, deployed.get(state.app), app):
        return None
    renewed = msgspec.structs.replace(state, spec=spec, fingerprint=fingerprint(spec))
    return None if renewed.fingerprint == state.fingerprint else renewed


def _with_kept(live: LiveState, carried: Sequence[Carried]) -> LiveState:
    kept = [(each.job, len({delivery.event.id for delivery in each.kept})) for each in carried if each.job]
    return msgspec.structs.replace(
        live,
        kept_jobs=len(kept),
        kept_events=sum(events for _, events in kept),
        by_hand_events=sum(events for job, events in kept if job.by_hand is not None),
    )

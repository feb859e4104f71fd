"""The sensor of a schedule with `sensor: own`: its switch, and a skip reason for its waiting jobs alone.

It launches nothing: launching has one path, the dispatcher or the host. Its switch is the schedule's status,
as that of a cron's Dagster schedule (`dispatch.switch`): switched off, the schedule is suspended. Each such
sensor costs Dagster's daemon an evaluation every `LOOK_SECONDS`.
"""

from dagster import (
    AssetSelection,
    DefaultSensorStatus,
    SensorDefinition,
    SensorEvaluationContext,
    SkipReason,
)

from tidegate.dagster_defs.deployed.asset_plan import AssetPlan
from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.deployed.tags import APP, SCHEDULE
from tidegate.dagster_defs.dispatch.skip_reason import WAITING_JOBS_MAX, skip_reason
from tidegate.domain.part_name import app_of
from tidegate.scheduler.explain.outcome import outcome_line
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.held_apps import held_apps

LOOK_SECONDS = 30


def own_sensor(state: ScheduleState, name: str, plan: AssetPlan, location: Location) -> SensorDefinition:
    """Return the sensor of a schedule."""
    program = plan.programs.get((state.app, state.spec.program))

    def look(_context: SensorEvaluationContext) -> SkipReason:
        return SkipReason(waiting_text(location.open_store(), state.ref))

    return SensorDefinition(
        name=name,
        asset_selection=None if program is None else AssetSelection.assets(*program.keys),
        evaluation_fn=look,
        minimum_interval_seconds=LOOK_SECONDS,
        default_status=DefaultSensorStatus.RUNNING if state.active else DefaultSensorStatus.STOPPED,
        description=state.spec.description or f"switch and waiting jobs of {state.ref}",
        tags={APP: state.app, SCHEDULE: state.ref},
        metadata={"yaml": str(state.spec.at), "program": state.spec.program},
    )


def waiting_text(store: Store, ref: str) -> str:
    """Return why the jobs of a schedule wait, and what became of those that are decided."""
    with store.reading() as reader:
        jobs = reader.jobs(
            schedules=[ref], states=(*WAITING, JobState.PENDING_LAUNCH), limit=WAITING_JOBS_MAX + 1
        )
        held = app_of(ref) in held_apps(reader)
    decided = [job for job in jobs if job.state is JobState.PENDING_LAUNCH]
    lines = [skip_reason([job for job in jobs if job.state is not JobState.PENDING_LAUNCH])]
    if decided:
        lines.append(
            f"{len(decided)} decided, for example {decided[0].key or ref}: {outcome_line(decided[0])}"
        )
    if held:
        lines.append("its app is on hold: see `tidegate apps list`")
    return "; ".join(lines)

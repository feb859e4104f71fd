"""Dagster schedules for the schedules whose whole trigger is one cron that Dagster can show.

They give such a schedule a switch and its next ticks in the UI. The engine fires every cron itself, so they
are parked (`dispatch.parking`): Dagster does not evaluate them. A tick that comes before a new schedule is
parked says so, and opens no store. All target Dagster's job of all assets, since a job for each schedule
would make loading quadratic.
"""

from datetime import UTC

from dagster import (
    DefaultScheduleStatus,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
)

from tidegate.dagster_defs.definitions.native_cron import pattern_for_dagster
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.deployed.tags import APP, SCHEDULE
from tidegate.domain.model import WallClock
from tidegate.scheduler.model.deployed import ScheduleState

FIRED_TEXT = "the engine fires {ref} itself, at {at} too: see `tidegate schedules show {ref}`"


def native_schedule(state: ScheduleState, cron: WallClock, name: str) -> ScheduleDefinition:
    """Return the Dagster schedule of a schedule whose cron Dagster can show."""
    ref = state.ref

    def say(context: ScheduleEvaluationContext) -> SkipReason:
        at = context.scheduled_execution_time.astimezone(UTC)
        return SkipReason(FIRED_TEXT.format(ref=ref, at=f"{at:%Y-%m-%d %H:%M:%SZ}"))

    return ScheduleDefinition(
        name=name,
        cron_schedule=pattern_for_dagster(cron.cron),
        execution_timezone=cron.timezone,
        job_name=ALL_ASSETS_JOB,
        execution_fn=say,
        default_status=DefaultScheduleStatus.RUNNING if state.active else DefaultScheduleStatus.STOPPED,
        description=state.spec.description or f"cron of {ref}",
        tags={APP: state.app, SCHEDULE: ref},
        metadata={"yaml": str(state.spec.at), "program": state.spec.program},
    )

"""Dagster schedules for the schedules whose whole trigger is one cron that Dagster can show.

They give such a schedule a switch, a tick history and a next tick in the UI. The body records
the fire in the schedule store under the id that the dispatcher would use, and skips: only the
dispatcher applies constraints and limits and launches runs. All target Dagster's job of all
assets, since a job for each schedule would make loading quadratic.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from dagster import (
    DefaultScheduleStatus,
    ScheduleDefinition,
    ScheduleEvaluationContext,
    SkipReason,
)

from tidegate.dagster_defs.definitions.location import Location
from tidegate.dagster_defs.definitions.names import ALL_ASSETS_JOB, dispatcher_name, unique_names
from tidegate.dagster_defs.definitions.native_cron import native_cron, pattern_for_dagster
from tidegate.dagster_defs.dispatch.preview import PREVIEW_TEXT, is_real_tick
from tidegate.dagster_defs.run.tags import APP, SCHEDULE
from tidegate.scheduler.intake.enqueue import enqueue_fire
from tidegate.scheduler.model.deployed import ScheduleState


def native_names(states: Iterable[ScheduleState], now: datetime) -> dict[str, str]:
    """Return the Dagster name of each schedule that Dagster can show, by ref."""
    crons = [state for state in states if native_cron(state, now) is not None]
    apps = {state.app for state in crons}
    names = unique_names(((s.app, s.name) for s in crons), taken=(dispatcher_name(app) for app in apps))
    return {state.ref: names[state.app, state.name] for state in crons}


def native_schedules(states: Iterable[ScheduleState], location: Location) -> Iterator[ScheduleDefinition]:
    """Yield a Dagster schedule for each schedule whose cron Dagster can show."""
    states = tuple(states)
    now = location.clock()
    names = native_names(states, now)
    for state in states:
        cron = native_cron(state, now)
        if cron is None:
            continue
        yield ScheduleDefinition(
            name=names[state.ref],
            cron_schedule=pattern_for_dagster(cron.cron),
            execution_timezone=cron.timezone,
            job_name=ALL_ASSETS_JOB,
            execution_fn=_body(state.ref, location),
            default_status=DefaultScheduleStatus.RUNNING if state.active else DefaultScheduleStatus.STOPPED,
            description=state.spec.description or f"cron of {state.ref}",
            tags={APP: state.app, SCHEDULE: state.ref},
            metadata={"yaml": str(state.spec.at), "program": state.spec.program},
        )


def _body(ref: str, location: Location) -> Callable[[ScheduleEvaluationContext], SkipReason]:
    def enqueue(context: ScheduleEvaluationContext) -> SkipReason:
        at = context.scheduled_execution_time.astimezone(UTC)
        if not is_real_tick(context.log_key):
            return SkipReason(f"{PREVIEW_TEXT}; at {at.isoformat()} {ref} would be queued")
        with location.open_store().transaction() as transaction:
            return SkipReason(enqueue_fire(transaction, ref, at, location.clock()))

    return enqueue

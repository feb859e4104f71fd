"""Launch plan: the input of a job's run, computed once, in the transaction that decides the launch.

Pure. The manifest is exactly what the job collected; the output partitions follow from the
schedule's `output_partition` (docs/rules.md, "What a run writes"); references in `args` are
resolved here, so that every attempt of the job gets the same input.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo

import msgspec

from tidegate.compiler import template
from tidegate.domain.model import App, PartitionScheme, Schedule, TimeDimension
from tidegate.domain.part_name import app_of, name_in, whole_name
from tidegate.domain.partition_key import period_before, same_partitions
from tidegate.domain.upstream_run import UpstreamRun
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.references import values_of
from tidegate.scheduler.model.event import PARTITION_KEY, Event, EventKind
from tidegate.scheduler.model.job import LaunchPlan


def plan_launch(view: JobView, satisfied_at: datetime | None) -> LaunchPlan:
    """Return the launch plan of the job.

    Args:
        satisfied_at: when the trigger was satisfied; the business date of a job without a fire
            counts from there.
    """
    scheduled = max(
        (d.event.scheduled_for for d in view.deliveries if d.event.scheduled_for is not None), default=None
    )
    outputs = output_scheme(view.app, view.schedule.program)
    counted_from = scheduled
    if counted_from is None and view.schedule.output_partition == "business_date":
        counted_from = satisfied_at
    date = None if counted_from is None else business_date(counted_from, outputs, view.schedule.timezone)
    manifest = _manifest(view)
    upstream = _upstream(view)
    plan = LaunchPlan(
        program=view.schedule.program,
        partitions=(),
        manifest=manifest,
        upstream_runs=tuple(run.id for run in upstream),
        upstream=upstream,
        scheduled_time=scheduled,
        business_date=date,
    )
    plan = msgspec.structs.replace(plan, partitions=_partitions(view, plan, satisfied_at))
    values = values_of(plan, view.deliveries, view.job.key)
    return msgspec.structs.replace(plan, args=template.render(view.schedule.args, values))


def business_date(scheduled: datetime, outputs: PartitionScheme | None, zone: str) -> str:
    """Return the scheduled time minus one unit, as a partition key.

    The unit is the cycle of the output's partitions, or a day. The scheduled time is read in the
    schedule's zone: at 00:30 in New York the business date is the day that has just ended there.
    """
    dimension = outputs.time if outputs is not None else None
    if dimension is None:
        dimension = TimeDimension(name="day", cycle="day", start="1970-01-01", timezone=zone)
    wall = scheduled.astimezone(ZoneInfo(zone)).replace(tzinfo=ZoneInfo(dimension.timezone))
    return period_before(wall, dimension)


def output_scheme(app: App, program: str) -> PartitionScheme | None:
    """Return the partition scheme of a program's outputs; lint checks that they agree."""
    schemes = (app.datasets[name].partitions for name in app.programs[program].writes)
    return next((scheme for scheme in schemes if scheme is not None), None)


def _manifest(view: JobView) -> dict[str, tuple[str, ...]]:
    """Return the distinct collected partition keys by dataset, as the app names it, both sorted."""
    keys: dict[str, set[str]] = {}
    for delivery in view.deliveries:
        if delivery.event.kind is EventKind.PARTITION and delivery.event.partition is not None:
            dataset = name_in(view.app.name, delivery.event.key.removeprefix(PARTITION_KEY))
            keys.setdefault(dataset, set()).add(delivery.event.partition)
    return {dataset: tuple(sorted(found)) for dataset, found in sorted(keys.items())}


def _upstream(view: JobView) -> tuple[UpstreamRun, ...]:
    """Return each upstream run once, with its last known facts, the newest run last.

    Its outputs have the names by which the app knows them.
    """
    runs: dict[str, UpstreamRun] = {}
    for delivery in view.deliveries:
        run = _run_of(delivery.event)
        if run is not None:
            runs.pop(run.id, None)
            runs[run.id] = _as_named_in(view.app.name, run)
    return tuple(runs.values())


def _as_named_in(app: str, run: UpstreamRun) -> UpstreamRun:
    theirs = app_of(run.program)
    outputs = {name_in(app, whole_name(theirs, name)): keys for name, keys in run.outputs.items()}
    return msgspec.structs.replace(run, outputs=outputs)


def _run_of(event: Event) -> UpstreamRun | None:
    """Return the run that an event is about; None for other kinds of events."""
    if event.kind is not EventKind.RUN or event.run_id is None:
        return None
    if event.run is not None:
        return event.run
    program = event.key.removeprefix("run:").rpartition(":")[0]
    return UpstreamRun(id=event.run_id, program=program, status=event.status or "")


def _partitions(view: JobView, plan: LaunchPlan, satisfied_at: datetime | None) -> tuple[str, ...]:
    outputs = output_scheme(view.app, view.schedule.program)
    if outputs is None:
        return ()
    if view.job.key and view.schedule.for_each is None:
        # A person named the partition.
        return (view.job.key,)
    match view.schedule.output_partition:
        case "key":
            return (view.job.key,) if view.job.key else ()
        case "manifest":
            return _of_outputs(view.app, outputs, plan.manifest.items()) or _by_time(
                outputs, plan, satisfied_at
            )
        case "run":
            return _of_outputs(view.app, outputs, _written(view.schedule, plan)) or _by_time(
                outputs, plan, satisfied_at
            )
        case "business_date" | "current":
            return _by_time(outputs, plan, satisfied_at)
        case "none":
            return ()
        case _:
            assert_never(view.schedule.output_partition)


def _written(schedule: Schedule, plan: LaunchPlan) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Return the partitions that the upstream runs wrote, by dataset, of the datasets that count."""
    for run in plan.upstream:
        for dataset, keys in run.outputs.items():
            if schedule.output_from in (None, dataset):
                yield dataset, keys


def _of_outputs(
    app: App, outputs: PartitionScheme, found: Iterable[tuple[str, tuple[str, ...]]]
) -> tuple[str, ...]:
    """Return the keys of datasets that have the same partitions as the outputs, sorted."""
    # An event collected before a deploy may be of a dataset that the deploy removed.
    same = (
        keys
        for dataset, keys in found
        if dataset in app.datasets and same_partitions(app.datasets[dataset].partitions, outputs)
    )
    return tuple(sorted({key for keys in same for key in keys}))


def _by_time(outputs: PartitionScheme, plan: LaunchPlan, satisfied_at: datetime | None) -> tuple[str, ...]:
    """Return the business date, or without a cron the last period that was over at `satisfied_at`.

    Empty for outputs that are not partitioned by time alone.
    """
    if outputs.time is None or outputs.static is not None or satisfied_at is None:
        return ()
    return (plan.business_date or period_before(satisfied_at, outputs.time),)

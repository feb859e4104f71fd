"""Launch: what the run of a job is given, computed once, in the transaction that decides it.

Pure. The manifest is exactly what the job collected; which output partitions the run writes
follows from the schedule's `output_partition` (docs/rules.md, "What a run writes"); references in its
`args` are resolved here, so that every attempt of the job gets the same.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo

import msgspec

from tidegate.compiler import template
from tidegate.domain.model import App, PartitionScheme, Schedule, TimeDimension
from tidegate.domain.partition_key import format_time_key
from tidegate.domain.time.cycle import advance, truncate
from tidegate.domain.upstream_run import UpstreamRun
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.references import values_of
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.job import LaunchPlan


def plan_launch(view: JobView, satisfied_at: datetime | None) -> LaunchPlan:
    """The launch plan of the job.

    Args:
        satisfied_at: when the trigger was satisfied. A job without a fire, triggered by hand or by
            another member of an `any`, counts its business date from there.
    """
    scheduled = max(
        (d.event.scheduled_for for d in view.deliveries if d.event.scheduled_for is not None), default=None
    )
    outputs = _output_scheme(view.app, view.schedule)
    counted_from = scheduled
    if counted_from is None and view.schedule.output_partition == "business_date":
        counted_from = satisfied_at
    date = None if counted_from is None else business_date(counted_from, outputs, view.schedule.timezone)
    manifest = _manifest(view.deliveries)
    upstream = _upstream(view.deliveries)
    plan = LaunchPlan(
        program=view.schedule.program,
        partitions=_partitions(view, manifest, date),
        manifest=manifest,
        upstream_runs=tuple(run.id for run in upstream),
        upstream=upstream,
        scheduled_time=scheduled,
        business_date=date,
    )
    values = values_of(plan, view.deliveries, view.job.key)
    return msgspec.structs.replace(plan, args=template.render(view.schedule.args, values))


def business_date(scheduled: datetime, outputs: PartitionScheme | None, zone: str) -> str:
    """Scheduled time minus one unit, as a partition key.

    The unit is the cycle of the output's partitions, or a day. The scheduled time is read in
    the schedule's zone: at 00:30 in New York the business date is the day that has just ended there.
    """
    dimension = outputs.time if outputs is not None else None
    if dimension is None:
        dimension = TimeDimension(name="day", cycle="day", start="1970-01-01", timezone=zone)
    wall = scheduled.astimezone(ZoneInfo(zone)).replace(tzinfo=ZoneInfo(dimension.timezone))
    current = truncate(wall, dimension.cycle, dimension.timezone)
    return format_time_key(advance(current, dimension.cycle, -1, dimension.timezone), dimension)


def _output_scheme(app: App, schedule: Schedule) -> PartitionScheme | None:
    """The partition scheme of the program's outputs; lint has seen to it that they agree."""
    program = app.programs[schedule.program]
    schemes = (app.datasets[name].partitions for name in program.writes)
    return next((scheme for scheme in schemes if scheme is not None), None)


def _manifest(deliveries: Iterable[Delivery]) -> dict[str, tuple[str, ...]]:
    """The distinct partition keys that were collected, by dataset, both sorted."""
    keys: dict[str, set[str]] = {}
    for delivery in deliveries:
        if delivery.event.kind is EventKind.PARTITION and delivery.event.partition is not None:
            dataset = delivery.event.key.rpartition("/")[2]
            keys.setdefault(dataset, set()).add(delivery.event.partition)
    return {dataset: tuple(sorted(found)) for dataset, found in sorted(keys.items())}


def _upstream(deliveries: Iterable[Delivery]) -> tuple[UpstreamRun, ...]:
    """Each run it was launched for once, with what was known of it last; the newest run stands last."""
    runs: dict[str, UpstreamRun] = {}
    for delivery in deliveries:
        run = _run_of(delivery.event)
        if run is not None:
            runs.pop(run.id, None)
            runs[run.id] = run
    return tuple(runs.values())


def _run_of(event: Event) -> UpstreamRun | None:
    """The run that an event is about; None for other kinds of events."""
    if event.kind is not EventKind.RUN or event.run_id is None:
        return None
    if event.run is not None:
        return event.run
    program = event.key.removeprefix("run:").rpartition(":")[0]
    return UpstreamRun(id=event.run_id, program=program, status=event.status or "")


def _partitions(view: JobView, manifest: dict[str, tuple[str, ...]], date: str | None) -> tuple[str, ...]:
    outputs = _output_scheme(view.app, view.schedule)
    if outputs is None:
        return ()
    match view.schedule.output_partition:
        case "key":
            return (view.job.key,) if view.job.key else ()
        case "manifest":
            # What was collected before a change may come from a dataset that is no more.
            datasets = view.app.datasets
            same = (
                keys
                for dataset, keys in manifest.items()
                if dataset in datasets and datasets[dataset].partitions == outputs
            )
            return tuple(sorted({key for keys in same for key in keys}))
        case "business_date":
            return () if date is None else (date,)
        case "none":
            return ()
        case _:
            assert_never(view.schedule.output_partition)

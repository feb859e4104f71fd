"""Launch plan: the input of a job's run, computed once, in the transaction that decides the launch.

Pure. The manifest is exactly what the job collected; the output partitions follow from the
schedule's `output_partition` (docs/rules.md, "What a run writes"); references in `args` are
resolved here, so that every attempt of the job gets the same input.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from typing import assert_never

import msgspec

from tidegate.compiler import template
from tidegate.domain.model import App, PartitionScheme, Schedule
from tidegate.domain.partition_key import period_before, same_partitions
from tidegate.domain.schedule_keys import has_cron, output_scheme
from tidegate.scheduler.decision.instances.inputs import Inputs, manifest_of_inputs
from tidegate.scheduler.decision.launch.dates import (
    date_of_moment,
    dates_of_fires,
    is_dated,
)
from tidegate.scheduler.decision.launch.input import events_of, manifest_of, sizes_of, upstream_of
from tidegate.scheduler.decision.launch.references import Values, values_of, with_arguments
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.decision.view.partitions import keys_of
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import LaunchPlan

NO_INPUTS = Inputs()


def plan_launch(view: JobView, satisfied_at: datetime | None, inputs: Inputs = NO_INPUTS) -> LaunchPlan:
    """Return the launch plan of the job.

    Args:
        satisfied_at: when the trigger was satisfied; the business date of a job without a fire
            counts from there.
        inputs: the upstream instances of an instance of a task.
    """
    if view.job.instance is not None and not view.job.instance.keyed:
        return _of_instance(view, view.job.instance, inputs)
    scheduled = max(
        (d.event.scheduled_for for d in view.deliveries if d.event.scheduled_for is not None), default=None
    )
    dates = business_dates(view, satisfied_at)
    sizes = sizes_of(events_of(view), view.app.name)
    upstream = upstream_of(view.app.name, view.deliveries)
    plan = LaunchPlan(
        program=view.schedule.program,
        partitions=(),
        manifest=manifest_of(sizes),
        sizes=sizes,
        upstream_runs=tuple(run.id for run in upstream),
        upstream=upstream,
        scheduled_time=scheduled,
        business_date=dates[-1] if dates else None,
        business_dates=dates,
    )
    plan = msgspec.structs.replace(plan, partitions=_partitions(view, plan, satisfied_at))
    return _with_values(view, plan, values_of(plan, view.deliveries, view.job.key, view.schedule.trigger))


def _with_values(view: JobView, plan: LaunchPlan, values: Values) -> LaunchPlan:
    """Return the plan with its arguments, and for an existing job the config that they fill."""
    args = template.render(view.schedule.args, values)
    existing = view.app.programs[plan.program].existing
    config = None if existing is None else template.render(existing.config, with_arguments(values, args))
    return msgspec.structs.replace(plan, args=args, config=config)


def _of_instance(view: JobView, instance: Instance, inputs: Inputs) -> LaunchPlan:
    """Return the launch plan of an instance of a task: it writes the partitions of its business date."""
    plan = LaunchPlan(
        program=view.schedule.program,
        partitions=keys_of(view.app, view.schedule, instance),
        manifest=manifest_of_inputs(view.app.name, view.app.programs[view.schedule.program], inputs),
        sizes=sizes_of(events_of(view), view.app.name),
        scheduled_time=instance.scheduled,
        business_date=instance.business_date,
        business_dates=(instance.business_date,),
    )
    return _with_values(view, plan, values_of(plan, (), "", None))


def keys_of_plan(schedule: Schedule, plan: LaunchPlan) -> tuple[str, ...]:
    """Return the keys of its schedule about which a job is: that of `for_each`, or its business dates."""
    if schedule.for_each is None and not has_cron(schedule):
        return ()
    return (plan.key,) if plan.key else plan.dates


def keys_of_job(view: JobView, now: datetime) -> tuple[str, ...]:
    """Return the keys of its schedule about which a waiting job would be if it were launched now."""
    if view.job.launch is not None:
        return keys_of_plan(view.schedule, view.job.launch)
    satisfied_at = view.job.satisfied_at or now
    dates = () if view.job.key else business_dates(view, satisfied_at)
    plan = LaunchPlan(program=view.schedule.program, key=view.job.key, business_dates=dates)
    return keys_of_plan(view.schedule, plan)


def business_dates(view: JobView, satisfied_at: datetime | None) -> tuple[str, ...]:
    """Return the business dates about which a job is, the newest last.

    Those of all fires that it has collected: a date that it left out would be written by no other job.
    """
    app, schedule = view.app, view.schedule
    if view.job.key and _is_date(schedule, output_scheme(app, schedule.program)):
        return (view.job.key,)
    dates = dates_of_fires(app, schedule, view.deliveries)
    if not dates and satisfied_at is not None and (is_dated(schedule) or schedule.keyed_by_date):
        with suppress(OverflowError):
            return (date_of_moment(app, schedule, satisfied_at),)
    return dates


def _is_date(schedule: Schedule, outputs: PartitionScheme | None) -> bool:
    """Return whether the key of a job is its date: by `batching: date`, or since a person named it."""
    by_time = outputs is None or outputs.static is None
    return schedule.keyed_by_date or (schedule.for_each is None and by_time)


def _partitions(view: JobView, plan: LaunchPlan, satisfied_at: datetime | None) -> tuple[str, ...]:
    outputs = output_scheme(view.app, view.schedule.program)
    if outputs is None:
        return ()
    if view.job.key and view.schedule.for_each is None and not view.schedule.keyed_by_date:
        # A person named the partition. A date as the key names none: what the run writes follows as always.
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
        case "business_date" | "business_day" if plan.business_date is None:
            return ()
        case "business_date" | "business_day":
            return _by_time(outputs, plan, satisfied_at)
        case "current":
            return _current(outputs, plan, satisfied_at)
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
    """Return the business dates, or without a cron the newest complete period.

    Empty for outputs that are not partitioned by time alone.
    """
    if outputs.time is None or outputs.static is not None or satisfied_at is None:
        return ()
    return plan.business_dates or _current(outputs, plan, satisfied_at)


def _current(outputs: PartitionScheme, plan: LaunchPlan, satisfied_at: datetime | None) -> tuple[str, ...]:
    """Return the newest complete period: the last one that was over when the trigger was satisfied.

    Each fire satisfies it again, so a later one that the waiting job has taken in counts. Empty for outputs
    that are not partitioned by time alone.
    """
    if outputs.time is None or outputs.static is not None or satisfied_at is None:
        return ()
    return (period_before(max(satisfied_at, plan.scheduled_time or satisfied_at), outputs.time),)

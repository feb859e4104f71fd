"""Launch input: sizes and times of what a job has collected, and the members of its trigger that held.

Programs get it as `params` (docs/programs.md). It is part of the launch plan, so every attempt gets the
same. Pure.

Manifest: the partitions and the upstream runs in some collected events, named as an app names them. Pure. A
job's launch plan has those of all its events, a reference to a named member those of its own.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

import msgspec

from tidegate.domain.launch_input import Fired, PartitionInput, UpstreamRun
from tidegate.domain.model import Leaf, leaves
from tidegate.domain.part_name import app_of, name_in, whole_name
from tidegate.scheduler.decision.launch.provisional import of_leaf
from tidegate.scheduler.decision.triggers.collected import Collected, collected
from tidegate.scheduler.decision.triggers.tree import LEAVES
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery, Event, EventKind, Report, dataset_of_key
from tidegate.scheduler.model.job import LaunchPlan

NAMES_KEPT = 256
"""Of how many event keys the dataset's name is kept: a job has many events of few keys."""


def events_of(view: JobView) -> Iterable[Event | Report]:
    """Return the events that a job has collected, each once, in order of arrival."""
    if view.reports is not None:
        return view.reports
    return {delivery.event.id: delivery.event for delivery in view.deliveries}.values()


def manifest_of(sizes: Mapping[str, Mapping[str, PartitionInput]]) -> dict[str, tuple[str, ...]]:
    """Return the collected partition keys by dataset, of what `sizes_of` returns."""
    return {dataset: tuple(parts) for dataset, parts in sizes.items()}


@lru_cache(NAMES_KEPT)
def _dataset_in(app: str, key: str) -> str:
    """Return the name that an app uses for the dataset of an event's key."""
    return name_in(app, dataset_of_key(key))


def upstream_of(app: str, deliveries: Iterable[Delivery]) -> tuple[UpstreamRun, ...]:
    """Return each upstream run once, with its last known facts, the newest run last.

    Its outputs have the names by which the app knows them.
    """
    runs: dict[str, UpstreamRun] = {}
    for delivery in deliveries:
        run = _run_of(delivery.event)
        if run is not None:
            runs.pop(run.id, None)
            runs[run.id] = _as_named_in(app, run)
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


def with_input(plan: LaunchPlan, view: JobView, now: datetime) -> LaunchPlan:
    """Return a launch plan with the input of a job that is launched at an instant."""
    times = [event.time for event in events_of(view)]
    return msgspec.structs.replace(
        plan,
        key=view.job.key,
        now=now,
        fired=tuple(_fired(view)),
        first_event_time=min(times, default=None),
        last_event_time=max(times, default=None),
    )


def sizes_of(events: Iterable[Event | Report], app: str) -> dict[str, dict[str, PartitionInput]]:
    """Return what is known of each collected partition, by dataset and key, both sorted."""
    found: dict[str, dict[str, PartitionInput]] = {}
    named, parts = "", dict[str, PartitionInput]()
    for event in events:
        if isinstance(event, Event) and event.kind is not EventKind.PARTITION:
            continue
        # A job has many events of few datasets.
        if event.key != named:
            named, parts = event.key, found.setdefault(_dataset_in(app, event.key), {})
        key = event.partition or ""
        if key in parts:
            parts[key] = _updated(parts[key], event, adds=not key)
        else:
            time = event.time
            parts[key] = PartitionInput(
                rows=event.rows, bytes=event.bytes, updates=1, first_time=time, last_time=time
            )
    return {name: {key: parts[key] for key in sorted(parts)} for name, parts in sorted(found.items())}


def _updated(before: PartitionInput, event: Event | Report, *, adds: bool) -> PartitionInput:
    """Return what is known of a partition after one more report of it, which arrived after the others."""
    return PartitionInput(
        rows=_newest(before.rows, event.rows, adds=adds),
        bytes=_newest(before.bytes, event.bytes, adds=adds),
        updates=before.updates + 1,
        first_time=min(before.first_time, event.time),
        last_time=max(before.last_time, event.time),
    )


def _newest(before: int | None, reported: int | None, *, adds: bool) -> int | None:
    if before is None or reported is None:
        return before if reported is None else reported
    return before + reported if adds else reported


def _fired(view: JobView) -> Iterable[Fired]:
    """Yield the leaves of the trigger that hold with the events that the job has at them."""
    has = collected(view)
    for leaf in leaves(view.schedule.trigger):
        if _holds(leaf, view, has):
            of, name = of_leaf(leaf.trigger, view.schedule), leaf.trigger.as_
            yield Fired(kind=leaf.trigger.kind, member=leaf.path, of=of, name=name)


def _holds(leaf: Leaf, view: JobView, has: Collected) -> bool:
    """Return whether a leaf holds with the events that the job has at it."""
    if view.reports is not None and view.tally is not None:
        count = view.tally.leaves.get(leaf.path)
        return count is not None and count.since is not None
    deliveries = has.by_leaf.get(leaf.path, ())
    if not deliveries:
        return False
    return LEAVES[type(leaf.trigger)].enough_since(leaf.trigger, deliveries, has) is not None

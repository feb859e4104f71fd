"""References: the values of `{{ trigger.partitions }}` and other references in `args` for one launch.

Lint checks which references exist and which of them a trigger provides; `compiler.template` parses
them. Here they get their values, from the launch plan and the collected events, in the transaction
that decides the launch. A missing value is null: a job triggered by hand has no upstream run, and
an event without a reported size has no bytes. Pure.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.model import Trigger, named_members
from tidegate.domain.part_name import app_of, name_in
from tidegate.scheduler.decision.launch.input import manifest_of, sizes_of, upstream_of
from tidegate.scheduler.decision.triggers.collected import is_below
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.job import LaunchPlan

Values = Callable[[str], Any]
"""Returns the value of a reference, any JSON; None for a missing one."""


def values_of(
    plan: LaunchPlan, deliveries: Sequence[Delivery], key: str, trigger: Trigger | None = None
) -> Values:
    """Return the values of references for the launch of one job.

    Args:
        plan: the launch plan, before its `args` are resolved.
        deliveries: the collected events of the job, in order of arrival.
        key: the job's key, "" without one.
        trigger: of its schedule, whose named members references may ask for.
    """

    @cache
    def facts() -> dict[str, Any]:
        # Most schedules refer to nothing, and a job may have collected a hundred thousand events.
        return _facts(plan, deliveries, key, trigger)

    def value(reference: str) -> Any:
        none: list[str] | None = [] if _names_partitions(reference) else None
        return facts().get(reference, none)

    return value


def _facts(
    plan: LaunchPlan, deliveries: Sequence[Delivery], key: str, trigger: Trigger | None
) -> dict[str, Any]:
    """Return the values of all references for the launch of one job."""
    own = next((app_of(delivery.schedule) for delivery in deliveries), "")
    facts: dict[str, Any] = {
        "scheduled_time": _text(plan.scheduled_time),
        "business_date": plan.business_date,
        "business_dates": list(plan.dates),
        "key": key or None,
        **_collected("trigger", own, deliveries, plan.manifest, plan.upstream),
    }
    for name, path, _ in () if trigger is None else named_members(trigger):
        mine = [delivery for delivery in deliveries if is_below(delivery.leaf, path)]
        manifest = manifest_of(sizes_of((delivery.event for delivery in mine), own))
        facts.update(_collected(f"trigger.{name}", own, mine, manifest, upstream_of(own, mine)))
    return facts


def with_arguments(values: Values, args: Mapping[str, Any]) -> Values:
    """Return the values of references in the config of a job: also of those to arguments."""
    arguments = {f"args.{name}": value for name, value in args.items()}
    return lambda reference: arguments[reference] if reference in arguments else values(reference)


def _names_partitions(reference: str) -> bool:
    """Return whether a reference is about the partitions of one dataset, of which none may have come."""
    parts = reference.split(".")
    return parts[:1] == ["trigger"] and len(parts) > 2 and parts[-2] == "partitions"


def _collected(
    prefix: str,
    own: str,
    deliveries: Iterable[Delivery],
    manifest: Mapping[str, tuple[str, ...]],
    upstream: Sequence[UpstreamRun],
) -> dict[str, Any]:
    """Return the references to some collected events, for a schedule of the app `own`."""
    events = tuple({delivery.event.id: delivery.event for delivery in deliveries}.values())
    first = min((event.time for event in events), default=None)
    facts: dict[str, Any] = {
        f"{prefix}.partitions": sorted({each for keys in manifest.values() for each in keys if each}),
        f"{prefix}.bytes": _size(events, "bytes"),
        f"{prefix}.rows": _size(events, "rows"),
        f"{prefix}.count": len(events),
        f"{prefix}.first_event_time": _text(first),
    }
    facts |= {f"{prefix}.partitions.{name}": [key for key in keys if key] for name, keys in manifest.items()}
    for run in upstream:
        # Each dataset has the keys of the newest run that wrote it.
        facts |= {f"{prefix}.run.outputs.{dataset}": list(keys) for dataset, keys in run.outputs.items()}
    if upstream:
        newest = upstream[-1]
        facts[f"{prefix}.run.id"] = newest.id
        facts[f"{prefix}.run.program"] = name_in(own, newest.program)
        facts[f"{prefix}.run.status"] = newest.status
        facts |= {f"{prefix}.run.args.{name}": value for name, value in newest.args.items()}
    return facts


def _text(instant: datetime | None) -> str | None:
    """Format an instant as ISO 8601."""
    return None if instant is None else instant.isoformat()


def _size(events: Iterable[Event], unit: str) -> int | None:
    """Return the size of all partitions, each with its newest size; None if no size is known.

    Every update of a dataset without partitions adds its size.
    """
    sizes: dict[tuple[str, str], int] = {}
    for event in events:
        size: int | None = getattr(event, unit)
        if event.kind is EventKind.PARTITION and size is not None:
            sizes[event.key, event.partition or event.id] = size
    return sum(sizes.values()) if sizes else None

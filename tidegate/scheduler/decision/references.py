"""References: the values of `{{ trigger.partitions }}` and other references in `args` for one launch.

Lint checks which references exist and which of them a trigger provides; `compiler.template` parses
them. Here they get their values, from the launch plan and the collected events, in the transaction
that decides the launch. A missing value is null: a job triggered by hand has no upstream run, and
an event without a reported size has no bytes. Pure.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from tidegate.domain.part_name import app_of, name_in
from tidegate.domain.upstream_run import UpstreamRun
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.job import LaunchPlan

PARTITIONS_OF = "trigger.partitions."
"""Prefix of a dataset's name."""

Values = Callable[[str], Any]
"""Returns the value of a reference, any JSON; None for a missing one."""


def values_of(plan: LaunchPlan, deliveries: Sequence[Delivery], key: str) -> Values:
    """Return the values of references for the launch of one job.

    Args:
        plan: the launch plan, before its `args` are resolved.
        deliveries: the collected events of the job, in order of arrival.
        key: the job's `for_each` key, "" without `for_each`.
    """
    own = next((app_of(delivery.schedule) for delivery in deliveries), "")
    events = tuple({delivery.event.id: delivery.event for delivery in deliveries}.values())
    first = min((event.time for event in events), default=None)
    facts: dict[str, Any] = {
        "scheduled_time": _text(plan.scheduled_time),
        "business_date": plan.business_date,
        "key": key or None,
        "trigger.partitions": sorted({each for keys in plan.manifest.values() for each in keys if each}),
        "trigger.bytes": _size(events, "bytes"),
        "trigger.rows": _size(events, "rows"),
        "trigger.count": len(events),
        "trigger.first_event_time": _text(first),
    }
    if plan.upstream:
        facts.update(_run(plan.upstream[-1], own))

    def value(reference: str) -> Any:
        if reference.startswith(PARTITIONS_OF):
            return [key for key in plan.manifest.get(reference.removeprefix(PARTITIONS_OF), ()) if key]
        return facts.get(reference)

    return value


def _run(run: UpstreamRun, own: str) -> dict[str, Any]:
    """Return the references to the newest upstream run, for a schedule of the app `own`."""
    facts: dict[str, Any] = {
        "trigger.run.id": run.id,
        "trigger.run.program": name_in(own, run.program),
        "trigger.run.status": run.status,
    }
    facts.update((f"trigger.run.args.{name}", value) for name, value in run.args.items())
    facts.update((f"trigger.run.outputs.{dataset}", list(keys)) for dataset, keys in run.outputs.items())
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

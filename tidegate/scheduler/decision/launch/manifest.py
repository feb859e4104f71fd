"""Manifest: the partitions and the upstream runs in some collected events, named as an app names them.

Pure. A job's launch plan has those of all its events, a reference to a named member those of its own.
"""

from collections.abc import Iterable

import msgspec

from tidegate.domain.launch_input import UpstreamRun
from tidegate.domain.part_name import app_of, name_in, whole_name
from tidegate.scheduler.model.event import PARTITION_KEY, Delivery, Event, EventKind


def manifest_of(app: str, deliveries: Iterable[Delivery]) -> dict[str, tuple[str, ...]]:
    """Return the distinct collected partition keys by dataset, as the app names it, both sorted."""
    keys: dict[str, set[str]] = {}
    for delivery in deliveries:
        if delivery.event.kind is EventKind.PARTITION and delivery.event.partition is not None:
            dataset = name_in(app, delivery.event.key.removeprefix(PARTITION_KEY))
            keys.setdefault(dataset, set()).add(delivery.event.partition)
    return {dataset: tuple(sorted(found)) for dataset, found in sorted(keys.items())}


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

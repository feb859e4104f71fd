"""Events as all faces show them: each with what became of it, and the reports that were refused."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import msgspec

from tidegate.domain.part_name import app_of
from tidegate.listings.events import Event, Received
from tidegate.listings.read import Asked
from tidegate.scheduler.explain.withheld import withheld_events, withheld_partition
from tidegate.scheduler.intake.report import refused_reports
from tidegate.scheduler.model import event as engine
from tidegate.scheduler.model.event import Delivery, app_of_key, partition_event_key
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.ledger import outcome_of
from tidegate.scheduler.store.wanted import EventsWanted

MOST_UNROUTED = 10_000
"""A tick routes what has arrived; more than this wait only while no scheduler runs."""

PRUNED = "PRUNED"
"""In place of the state of a job that is gone; an event may stay longer than the job that received it."""


def list_events(asked: Asked) -> list[Event]:
    """Return the newest events that match, of what became of them what the caller sees, and reports."""
    given = asked.wanted
    wanted = EventsWanted(
        key=partition_event_key("", given["dataset"]) if "dataset" in given else None,
        key_prefix=given.get("key", ""),
        partition=given.get("partition"),
        schedule=given.get("schedule"),
        job=given.get("job"),
        reason=given.get("reason"),
        apps=asked.apps,
        since=given.get("from"),
        until=given.get("until"),
        before=asked.after,
    )
    if given.get("withheld"):
        return [] if wanted.of_delivery or "outcome" in given else list(_withheld(asked, wanted))
    each = [msgspec.structs.replace(wanted, outcome=one) for one in given.get("outcome", (None,))]
    found = {event.id: event for one in each for event in asked.reader.events_page(one, asked.limit)}
    reports = () if each[0].of_delivery else _refused(asked, wanted)
    return [*shown_events(asked.reader, list(found.values()), asked), *reports]


def shown_events(
    reader: EngineReader, events: Sequence[engine.Event], asked: Asked | None = None
) -> Iterator[Event]:
    """Yield events with what became of them.

    Args:
        asked: by a caller who sees only the schedules of some apps.
    """
    unrouted = {event.id for event in reader.unrouted_events(MOST_UNROUTED)}
    deliveries = reader.deliveries_of_events([event.id for event in events])
    jobs = {job.id: job for job in reader.jobs(ids={d.job for d in deliveries if d.job is not None})}
    received: dict[str, list[Received]] = {event.id: [] for event in events}
    for each in deliveries:
        if asked is None or asked.sees(app_of(each.schedule)):
            received[each.event.id].append(_received(each, jobs.get(each.job or "")))
    for event in events:
        facts = {name: getattr(event, name) for name in event.__struct_fields__}
        yield Event(**facts, routed=event.id not in unrouted, deliveries=tuple(received[event.id]))


def _received(delivery: Delivery, job: Job | None) -> Received:
    if delivery.reason or delivery.job is None:
        state = str(JobState.DISCARDED)
    else:
        state = PRUNED if job is None else job.state.value
    reason = delivery.reason if job is None or delivery.reason else job.reason
    return Received(
        schedule=delivery.schedule,
        leaf=delivery.leaf,
        job=delivery.job,
        state=state,
        reason=reason,
        outcome="pruned" if state == PRUNED else outcome_of(JobState(state), reason)[0],
    )


def _withheld(asked: Asked, wanted: EventsWanted) -> Iterator[Event]:
    """Yield the materialisations that match and whose checks have not passed."""
    for each in withheld_events(asked.reader, asked.apps):
        arrived = each.withheld_since or each.time
        event = Event(
            id=each.event,
            kind=engine.EventKind.PARTITION,
            key=partition_event_key("", each.dataset),
            time=each.time,
            arrived=arrived,
            partition=each.partition,
            bytes=each.bytes,
            rows=each.rows,
            run_id=each.run_id,
            detail=each.detail,
            routed=True,
            withheld=withheld_partition(each),
        )
        if _matches(wanted, event.key, event.partition, arrived):
            yield event


def _refused(asked: Asked, wanted: EventsWanted) -> Iterator[Event]:
    """Yield the refused reports that match; no schedule has received one."""
    for report in refused_reports(asked.reader):
        if asked.sees(app_of_key(report.key)) and _matches(wanted, report.key, report.partition, report.at):
            yield Event(
                id=report.id,
                kind=engine.EventKind.PARTITION,
                key=report.key,
                time=report.at,
                arrived=report.at,
                partition=report.partition,
                routed=True,
                refused=report.reason,
            )


def _matches(wanted: EventsWanted, key: str, partition: str | None, arrived: datetime) -> bool:
    return (
        wanted.key in (None, key)
        and key.startswith(wanted.key_prefix)
        and wanted.partition in (None, partition)
        and (wanted.since is None or arrived >= wanted.since)
        and (wanted.until is None or arrived < wanted.until)
    )

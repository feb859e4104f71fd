"""What Hypothesis draws for the store: calls of a transaction, and the questions that are asked after them.

The names are few and alike, so that calls meet each other's rows, and differ in what databases
like to confuse: capitals, umlauts, wildcards and prefixes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from hypothesis import strategies as st

from tests.store.drawn import (
    alerts,
    expected,
    maintenance,
    overrides,
    partitions,
    records,
    retention,
    tallies,
)
from tests.store.drawn.records import ids, instants, many, maybe_instants, refs
from tests.worlds.samples import (
    at,
    entry,
    event,
    job,
    launched,
    run,
    schedule,
    upstream,
)
from tidegate.compiler.plan.renames import Renames
from tidegate.domain.model import Priority
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import WAITING, JobState
from tidegate.scheduler.model.launch_order import TURNS
from tidegate.scheduler.model.queue import queue_of
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.records.partitions_report import (
    PARTITIONS_REPORTS,
)
from tidegate.scheduler.model.records.watched import (
    WATCHED_FOLDERS,
    WATCHED_PARTITIONS,
)
from tidegate.scheduler.model.run import GAUGES, RunStatus
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.store.wanted import EventsWanted, Outcome


@dataclass(frozen=True)
class Call:
    """One call of a transaction."""

    method: str
    arguments: tuple[Any, ...]

    def __call__(self, transaction: EngineTransaction) -> Any:
        """What the call gives back, or what it is refused with."""
        try:
            return getattr(transaction, self.method)(*self.arguments)
        except StoreError as error:
            return str(error)


resources = st.sampled_from(["program:a/p", "group:g", "group:G", "table:a/d"])
reasons = st.none() | st.sampled_from(list(Reason))

events = st.builds(
    event,
    ids,
    st.integers(0, 3),
    key=st.sampled_from(["partition:a/d", "partition:a/dd", "run:a/p:failed"]),
    partition=st.sampled_from([None, "", "k", "K", "ä"]),
    run=st.none() | st.builds(upstream, ids, args=st.just({"x": 1})),
    detail=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
)
instances = st.builds(
    lambda scheduled, number, empty: Instance(
        key=scheduled.isoformat(),
        scheduled=scheduled,
        start=scheduled,
        business=scheduled,
        business_date="",
        number=number,
        empty=empty,
    ),
    instants,
    st.integers(0, 1),
    st.booleans(),
)
jobs = st.builds(
    job,
    ids,
    refs,
    state=st.sampled_from(list(JobState)),
    reason=reasons,
    priority=st.sampled_from(list(Priority)),
    opened_at=instants,
    next_check_at=maybe_instants,
    blocked_on=st.none() | resources,
    needs=st.lists(st.tuples(resources, st.integers(1, 2)), max_size=2).map(tuple),
    resources=st.lists(resources, max_size=4).map(tuple),
    closed=st.booleans(),
    held_at=maybe_instants,
    late_at=maybe_instants,
    held_for=st.timedeltas(timedelta(0), timedelta(days=9)),
    instance=st.none() | instances,
    launch=st.none() | maintenance.plans,
    maintenance=st.none() | maintenance.works,
)
schedules = st.builds(
    schedule,
    refs,
    spec=st.sampled_from(["discard", "drain", "hold", "backlog"]).map(
        lambda mode: msgspec.structs.replace(schedule("a/s").spec, on_suspend=mode)
    ),
    status=st.sampled_from(["active", "suspended"]),
    next_fire_at=maybe_instants,
    clocks=st.dictionaries(st.sampled_from(["", "0"]), instants),
)
launches = st.builds(launched, ids, st.integers(0, 4), program=st.sampled_from(["a/p", "a/q"]))
runs = st.builds(
    run,
    ids,
    st.sampled_from(list(RunStatus)),
    program=st.sampled_from(["a/p", "a/q"]),
    job=st.none() | ids,
    seen_at=instants,
    started_at=maybe_instants,
    ended_at=maybe_instants,
)
entries = st.builds(
    entry,
    at=instants,
    schedule=st.none() | refs,
    job=st.none() | ids,
    reason=st.none() | st.just("D-TIMEOUT"),
)
values = st.none() | st.integers(-5, 5) | st.lists(st.text("aä", max_size=2), max_size=2)


def renamed_app(name: str, new: str) -> Renames:
    """All parts of an app under a name that nothing has yet."""
    parts = {f"{name}/{part}": f"{new}/{part}" for part in "dpqsx"}
    return Renames(apps={name: new}, programs=parts, datasets=parts)


renames = st.builds(
    renamed_app, st.sampled_from(["a", "B"]), st.uuids(version=4).map(lambda new: f"n{new.hex}")
)
ARGUMENTS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "put_schedules": (many(schedules),),
    "delete_schedules": (many(refs),),
    "add_events": (many(events),),
    "mark_routed": (many(ids),),
    "add_deliveries": (many(tallies.deliveries),),
    "remove_deliveries": (many(tallies.deliveries), many(ids)),
    "put_jobs": (many(jobs),),
    "put_edges": (st.dictionaries(ids, many(ids), max_size=3),),
    "take_slots": (st.dictionaries(ids, many(resources), max_size=3),),
    "release_slots": (ids,),
    "add_launches": (many(launches),),
    "drop_launches": (many(ids),),
    "wake": (many(resources), instants),
    "mark_looked_at": (many(jobs.map(lambda each: queue_of(each) or "")),),
    "put_runs": (many(runs),),
    "claim": (ids, st.integers(1, 2), ids, instants),
    "set_cursor": (ids, values),
    "rename": (renames,),
    "add_journal": (many(entries),),
    "put_operation_runs": (many(maintenance.operation_runs),),
    **tallies.ARGUMENTS,
    **retention.ARGUMENTS,
    **alerts.ARGUMENTS,
    **expected.ARGUMENTS,
}
"""What each method of a transaction is called with."""

DRAWN: dict[str, st.SearchStrategy[tuple[Any, ...]]] = {
    **{method: st.tuples(*drawn) for method, drawn in ARGUMENTS.items()},
    "put_records": records.put,
    "drop_records": records.dropped,
}

OFTEN = ("put_records", "drop_records") * 4
"""What is drawn more often than the rest: these two are of many kinds."""

calls: st.SearchStrategy[Call] = st.one_of(
    *(st.builds(Call, st.just(method), DRAWN[method]) for method in (*DRAWN, *OFTEN))
)


WANTED = (
    EventsWanted(key="partition:a/d", partition="k"),
    EventsWanted(key_prefix="partition:", before=(at(2), "b")),
    EventsWanted(apps=["b"]),
    EventsWanted(job="b"),
    EventsWanted(schedule="a/s", since=at(1), until=at(4)),
    EventsWanted(schedule="a/s", outcome=Outcome.DISCARDED),
    EventsWanted(outcome=Outcome.PENDING, apps=["a"]),
    EventsWanted(reason=Reason.D_EXPIRED),
)
"""Pages of events."""


def answers(reader: EngineReader, now: datetime) -> list[Any]:
    """What a reader says to every question."""
    names = ["a", "B", "b", "ä", "a/b", "none"]
    return [
        *(reader.records(kind) for kind in records.RECORDS),
        reader.app_headers(),
        reader.schedules(app="a"),
        reader.schedules(refs=["a/s", "a/S"]),
        reader.due_schedules(now, 2),
        reader.due_schedules(now, 2, tasks=True),
        reader.records(SUBSCRIPTIONS, event_key=["k"]),
        reader.unrouted_events(3),
        reader.events(key_prefix="partition:a/d", limit=3),
        *(reader.events_page(wanted, 3) for wanted in WANTED),
        reader.jobs(states=WAITING),
        reader.jobs(schedules=["a/s", "a/t"], limit=2),
        reader.jobs(apps=["a"], ids=names),
        reader.jobs(apps=["b", "a"], states=WAITING, limit=2),
        reader.due_jobs(now, 3),
        reader.due_jobs(now, 3, (now, "ä")),
        reader.records(TURNS, job=["a", "ä"]),
        reader.due_records(TURNS, None, 2),
        reader.instances(["a/s", "a/t"], at(1), now),
        reader.instances(["a/s"], at(0), at(9), backfill=1),
        reader.instance_before("a/s", at(9)),
        reader.instance_before("a/s", now, backfill=1),
        reader.instances(backfill=1),
        reader.instances_page(JobState, schedules=["a/s", "a/t"], oldest=2),
        reader.instances_page(JobState, schedules=["a/s"], newest=2, before=(at(5), "b")),
        reader.instances_page([JobState.FAILED], of_none=True, first=at(1), last=now, oldest=9),
        reader.instances_page(WAITING, backfill=1, real=True, after=(at(2), "b"), oldest=2),
        reader.instances_page(JobState, empty=True, newest=1),
        reader.backfill_counts(0, 2),
        reader.consumers(names),
        reader.jobs(blocked_on=["program:a/p", "group:g"]),
        reader.jobs(schedules=["a/s"], until=at(2), limit=1),
        reader.woken(now),
        [reader.queued_jobs(queue, "", 2) for queue, _ in reader.woken(at(99))],
        reader.jobs_to_offer(["a", "ä"]),
        reader.jobs_to_offer(["a", "b"], now, 2),
        reader.deliveries(names),
        reader.deliveries_of_events(names),
        *tallies.answers(reader, now),
        reader.slots(["program:a/p", "group:g", "group:x"]),
        reader.history(["a/p", "a/q", "a/x"]),
        reader.launches(["a/p", "a/q", "a/x"], now),
        reader.records(GAUGES, name=["G", "x"]),
        reader.runs(active=True),
        reader.runs(jobs=names, limit=2),
        [reader.claim_of(name, 1) for name in names],
        [reader.cursor(name) for name in names],
        reader.journal(schedule="a/s", limit=2),
        reader.journal(since=now, job="b"),
        reader.ledger(),
        msgspec.structs.replace(reader.counts(), bytes=None),
        reader.ledger(app="a"),
        *maintenance.answers(reader, now),
        reader.specifications(2),
        reader.specifications(9, apps=["a", "ä"]),
        reader.records(PARTITIONS_REPORTS, id="a"),
        reader.due_records(PARTITIONS_REPORTS, None, 2, project="p"),
        reader.records(WATCHED_FOLDERS, project="p"),
        reader.records(WATCHED_PARTITIONS, dataset="a/d"),
        reader.records(WATCHED_PARTITIONS, dataset="a/s", key=["a", "ä"]),
        *retention.answers(reader, now),
        *alerts.answers(reader, now),
        *expected.answers(reader, now),
        *overrides.answers(reader, now),
        *partitions.answers(reader),
    ]

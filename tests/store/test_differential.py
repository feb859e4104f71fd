"""Random histories mean the same in every store: same answers on the way, same dump at the end.

Hypothesis draws a list of transactions, each a list of calls that may end in an exception.
The store in memory is the reference.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from compiler.model import Priority
from scheduler.event import Subscription
from scheduler.job import WAITING, JobState
from scheduler.reason import Reason
from scheduler.run import RunStatus
from scheduler.store.memory import MemoryStore
from scheduler.store.open import open_store
from scheduler.store.protocol import Reader, Store, Transaction
from tests.store.conftest import new_url
from tests.store.samples import (
    app,
    at,
    delivery,
    entry,
    event,
    gauge,
    job,
    launched,
    run,
    schedule,
    upstream,
)

Call = Callable[[Transaction], Any]

ids = st.sampled_from(["a", "B", "b", "b0", "ä", "_", "a/b", "Z%"])
refs = st.sampled_from(["a/s", "a/t", "a/S", "ab/s", "b/s"])
resources = st.sampled_from(["program:a/p", "group:g", "group:G"])
instants = st.integers(0, 4).map(at)
maybe_instants = st.none() | instants
lists = {"max_size": 4}
reasons = st.none() | st.sampled_from(list(Reason))

events = st.builds(
    event,
    ids,
    st.integers(0, 3),
    key=st.sampled_from(["partition:a/d", "partition:a/dd", "run:a/p:failed"]),
    run=st.none() | st.builds(upstream, ids, args=st.just({"x": 1})),
    detail=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
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
    resources=st.lists(resources, **lists).map(tuple),
    closed=st.booleans(),
    held_at=maybe_instants,
    held_for=st.timedeltas(timedelta(0), timedelta(days=9)),
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
gauges = st.builds(
    gauge, st.sampled_from(["g", "G"]), st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 4)
)
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
subscriptions = st.builds(
    Subscription, event_key=st.sampled_from(["k", "K"]), schedule=refs, leaf=st.sampled_from(["", "0", "0.1"])
)
entries = st.builds(
    entry,
    at=instants,
    schedule=st.none() | refs,
    job=st.none() | ids,
    reason=st.none() | st.just("D-TIMEOUT"),
)
values = st.none() | st.integers(-5, 5) | st.lists(st.text("aä", max_size=2), max_size=2)


Drawn = list[tuple[str, str, str, str | None, str | None]]


def remove_deliveries(drawn: Drawn) -> Call:
    """Take deliveries out, whether the store has them or not."""
    gone = [delivery(event(id), ref, leaf, job=job_id) for id, ref, leaf, job_id, _ in drawn]
    return lambda tx: tx.remove_deliveries(gone)


def add_deliveries(drawn: Drawn) -> Call:
    """Deliveries of those drawn events which the store holds."""

    def call(tx: Transaction) -> Any:
        held = {e.id: e for e in tx.events(ids=[each[0] for each in drawn])}
        tx.add_deliveries(
            [
                delivery(held[id], ref, leaf, job=job_id, reason=reason)
                for id, ref, leaf, job_id, reason in drawn
                if id in held
            ]
        )

    return call


drawn_deliveries = st.lists(
    st.tuples(ids, refs, st.sampled_from(["", "0"]), st.none() | ids, st.none() | st.just("D-EXPIRED")),
    **lists,
)
calls: st.SearchStrategy[Call] = st.one_of(
    st.lists(st.builds(app, ids, revision=st.integers(1, 3)), **lists).map(
        lambda x: lambda tx: tx.put_apps(x)
    ),
    st.lists(ids, **lists).map(lambda x: lambda tx: tx.delete_apps(x)),
    st.lists(schedules, **lists).map(lambda x: lambda tx: tx.put_schedules(x)),
    st.tuples(st.lists(refs, **lists), st.lists(subscriptions, **lists)).map(
        lambda x: lambda tx: tx.put_subscriptions(*x)
    ),
    st.lists(refs, **lists).map(lambda x: lambda tx: tx.delete_schedules(x)),
    st.lists(events, **lists).map(lambda x: lambda tx: tx.add_events(x)),
    st.lists(ids, **lists).map(lambda x: lambda tx: tx.mark_routed(x)),
    drawn_deliveries.map(add_deliveries),
    drawn_deliveries.map(remove_deliveries),
    st.lists(launches, **lists).map(lambda x: lambda tx: tx.add_launches(x)),
    ids.map(lambda x: lambda tx: tx.remove_launch(x)),
    st.lists(gauges, **lists).map(lambda x: lambda tx: tx.put_gauges(x)),
    st.lists(jobs, **lists).map(lambda x: lambda tx: tx.put_jobs(x)),
    st.tuples(ids, st.lists(resources, **lists)).map(lambda x: lambda tx: tx.take_slots(dict([x]))),
    ids.map(lambda x: lambda tx: tx.release_slots(x)),
    st.tuples(st.lists(resources, **lists), instants).map(lambda x: lambda tx: tx.wake(*x)),
    st.lists(runs, **lists).map(lambda x: lambda tx: tx.put_runs(x)),
    st.tuples(ids, st.integers(1, 2), ids, instants).map(lambda x: lambda tx: tx.claim(*x)),
    st.tuples(ids, values).map(lambda x: lambda tx: tx.set_cursor(*x)),
    st.lists(entries, **lists).map(lambda x: lambda tx: tx.add_journal(x)),
)
histories = st.lists(st.tuples(st.lists(calls, max_size=6), st.booleans()), max_size=5)


class Boom(Exception):
    """The exception that some of the transactions end in."""


def answers(reader: Reader, now: datetime) -> list[Any]:
    """What a reader says to every question."""
    names = ["a", "B", "b", "ä", "a/b", "none"]
    return [
        reader.apps(),
        reader.schedules(app="a"),
        reader.schedules(refs=["a/s", "a/S"]),
        reader.due_schedules(now, 2),
        reader.subscriptions(["k"]),
        reader.unrouted_events(3),
        reader.events(key_prefix="partition:a/d", limit=3),
        reader.jobs(states=WAITING),
        reader.jobs(schedules=["a/s", "a/t"], limit=2),
        reader.jobs(app="a", ids=names),
        reader.due_jobs(now, 3),
        reader.deliveries(names),
        reader.deliveries_of_events(names),
        reader.slots(["program:a/p", "group:g", "group:x"]),
        reader.history(["a/p", "a/q", "a/x"]),
        reader.launches(["a/p", "a/q", "a/x"], now),
        reader.gauges(),
        reader.gauges(["G", "x"]),
        reader.runs(active=True),
        reader.runs(jobs=names, limit=2),
        [reader.claim_of(name, 1) for name in names],
        [reader.cursor(name) for name in names],
        reader.journal(schedule="a/s", limit=2),
        reader.journal(since=now, job="b"),
        reader.ledger(),
        reader.ledger(app="a"),
    ]


def play(store: Store, history: list[tuple[list[Call], bool]]) -> list[Any]:
    """Run a history; returns every answer on the way."""
    said: list[Any] = []
    for transaction_calls, fails in history:
        try:
            with store.transaction() as transaction:
                said.extend(call(transaction) for call in transaction_calls)
                said.append(answers(transaction, at(2)))
                if fails:
                    raise Boom
        except Boom:
            pass
        with store.reading() as reader:
            said.append(answers(reader, at(2)))
    return said


def assert_same(url: str, history: list[tuple[list[Call], bool]]) -> None:
    reference, tested = MemoryStore(), open_store(url)
    try:
        assert play(tested, history) == play(reference, history)
        assert tested.dump() == reference.dump()
    finally:
        tested.close()


@given(history=histories)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sqlite_agrees_with_memory(tmp_path: Path, history: list[tuple[list[Call], bool]]) -> None:
    assert_same(f"sqlite:///{tmp_path}/{uuid4().hex}.db", history)


@pytest.mark.postgres
@given(history=histories)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_postgres_agrees_with_memory(
    request: pytest.FixtureRequest, tmp_path: Path, history: list[tuple[list[Call], bool]]
) -> None:
    assert_same(new_url("postgres", request, tmp_path), history)

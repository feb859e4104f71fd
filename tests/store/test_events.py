"""Every store keeps events once, routes them in order, and accounts for each of them; and the journal."""

from datetime import timedelta

import msgspec
import pytest

from tests.worlds.samples import NOON, at, delivery, entry, event, gauge, job, launched, run, upstream
from tidegate.scheduler.model.event import EventKind
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.journal import EntryKind
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.run import GAUGES, RunStatus
from tidegate.scheduler.store.answers import LedgerRow
from tidegate.scheduler.store.error import StoreError
from tidegate.scheduler.store.protocol import Store


def test_an_event_comes_back_as_it_was_added(store: Store) -> None:
    rich = event(
        "e",
        0.0000001,
        kind=EventKind.FIRE,
        time=NOON - timedelta(days=20000, microseconds=1),
        partition="2026-03-09|JFK",
        bytes=2**40,
        rows=0,
        run_id="r",
        status="succeeded",
        scheduled_for=at(5),
        day="2026-03-10",
        run=upstream(args={"x": [1, {"y": None}]}, outputs={"d": ("2026-03-09", "ü")}),
        own_job=True,
        expired=True,
        detail="reported by hand",
    )
    unpartitioned = event("f", 1, partition="")
    with store.transaction() as transaction:
        assert transaction.add_events([rich, unpartitioned]) == (rich, unpartitioned)
    with store.reading() as reader:
        assert reader.events() == (unpartitioned, rich)


def test_an_event_that_is_known_stays_as_it_is_and_is_not_new(store: Store) -> None:
    first = event("e", 0, detail="first")
    with store.transaction() as transaction:
        assert transaction.add_events([first, event("e", 1)]) == (first,)
    with store.transaction() as transaction:
        other = event("f")
        assert transaction.add_events([event("e", 2), other, event("e", 3)]) == (other,)
        assert transaction.events(ids=["e"]) == (first,)


def test_unrouted_events_come_by_arrival_then_id_until_they_are_routed(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events([event("c", 1), event("b", 1), event("a", 2), event("B", 1), event("d", 0)])
        assert [e.id for e in transaction.unrouted_events(10)] == ["d", "B", "b", "c", "a"]
        assert [e.id for e in transaction.unrouted_events(2)] == ["d", "B"]
        transaction.mark_routed(["d", "b", "never"])
    with store.reading() as reader:
        assert [e.id for e in reader.unrouted_events(10)] == ["B", "c", "a"]


def test_a_routed_event_that_is_reported_again_is_not_routed_again(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events([event("e")])
        transaction.mark_routed(["e"])
        assert transaction.add_events([event("e")]) == ()
        assert transaction.unrouted_events(10) == ()


def test_events_are_selected_by_prefix_and_id_newest_first(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_events(
            [
                event("1", 1, key="partition:a/d"),
                event("2", 2, key="partition:a/d%"),
                event("3", 3, key="partition:A/d"),
                event("4", 3, key="run:a/p:failed"),
            ]
        )
        cases = [
            ({}, ["4", "3", "2", "1"]),
            ({"limit": 2}, ["4", "3"]),
            ({"key_prefix": "partition:a/"}, ["2", "1"]),
            ({"key_prefix": "partition:a/d%"}, ["2"]),
            ({"key_prefix": "_"}, []),
            ({"ids": ["1", "4", "9"]}, ["4", "1"]),
            ({"ids": ["1", "4"], "key_prefix": "run:"}, ["4"]),
            ({"ids": []}, []),
        ]
        for filters, expected in cases:
            assert [e.id for e in transaction.events(**filters)] == expected, filters


def test_thousands_of_events_at_once(store: Store) -> None:
    many = [event(f"{n:05}", n) for n in range(2500)]
    with store.transaction() as transaction:
        assert transaction.add_events(many) == tuple(many)
        assert transaction.add_events([*many, event("new")]) == (event("new"),)
        transaction.mark_routed([each.id for each in many])
        assert [each.id for each in transaction.unrouted_events(10_000)] == ["new"]
        assert len(transaction.events(ids=[each.id for each in many], limit=10_000)) == 2500
        transaction.put_jobs([job("j")])
        transaction.add_deliveries([delivery(each, job="j") for each in many])
    with store.reading() as reader:
        assert [d.event.id for d in reader.deliveries(["j"])["j"]] == [each.id for each in many]


def test_deliveries_come_by_arrival_event_and_leaf_and_every_job_has_an_entry(store: Store) -> None:
    late, early, same = event("a", 9), event("z", 1), event("y", 1)
    with store.transaction() as transaction:
        transaction.add_events([late, early, same])
        transaction.put_jobs([job("j"), job("k")])
        given = [
            delivery(late, leaf="0", job="j"),
            delivery(early, leaf="1", job="j"),
            delivery(early, leaf="0", job="j", at=at(3)),
            delivery(same, leaf="0", job="j"),
            delivery(same, leaf="0", job="k"),
        ]
        transaction.add_deliveries(given)
    with store.reading() as reader:
        found = reader.deliveries(["j", "k", "none"])
        assert found == {"j": (given[3], given[2], given[1], given[0]), "k": (given[4],), "none": ()}
        assert reader.deliveries([]) == {}
        assert [reader.newest_deliveries("j", limit) for limit in (0, 2, 9)] == [
            (),
            found["j"][-2:],
            found["j"],
        ]
        assert [reader.count_deliveries(each) for each in ("j", "k", "none")] == [4, 1, 0]


def test_a_delivery_that_exists_is_left_as_it_is(store: Store) -> None:
    e = event("e")
    first = delivery(e, job="j", at=at(1))
    discarded = delivery(e, reason="D-SUSPENDED", at=at(1))
    with store.transaction() as transaction:
        transaction.add_events([e])
        transaction.add_deliveries([first, delivery(e, job="j", at=at(2)), discarded])
        transaction.add_deliveries(
            [delivery(e, job="j", at=at(3)), delivery(e, reason="D-DELETED", at=at(3))]
        )
    with store.reading() as reader:
        assert reader.deliveries_of_events(["e"]) == (discarded, first)


def test_removed_deliveries_are_gone_and_leave_the_others_of_their_event_and_job(store: Store) -> None:
    e, f = event("e"), event("f", 1)
    given = [
        delivery(e, "a/s", "0", job="j"),
        delivery(e, "a/s", "1", job="j"),
        delivery(e, "a/s", "0", job="k"),
        delivery(e, "a/t", "0", job="k"),
        delivery(e, "a/s", "0", reason="D-SUSPENDED"),
        delivery(f, "a/s", "0", job="j"),
    ]
    with store.transaction() as transaction:
        transaction.add_events([e, f])
        transaction.add_deliveries(given)
        transaction.remove_deliveries([given[0], given[3], delivery(f, "a/none", "", job="j")])
        assert transaction.deliveries(["j", "k"]) == {"j": (given[1], given[5]), "k": (given[2],)}
        transaction.remove_deliveries([given[4]])
        transaction.remove_deliveries([])
        assert transaction.deliveries_of_events(["e"]) == (given[2], given[1])
        # What was taken out may come again, for example as a discarded one.
        expired = delivery(e, "a/s", "0", reason="D-EXPIRED")
        transaction.add_deliveries([expired])
    with store.reading() as reader:
        assert reader.deliveries_of_events(["e"]) == (expired, given[2], given[1])
        assert (reader.newest_deliveries("j", 9), reader.count_deliveries("j")) == ((given[1], given[5]), 2)


def test_hundreds_of_deliveries_are_removed_at_once(store: Store) -> None:
    many = [delivery(event(f"{n:05}", n), job="j") for n in range(701)]
    with store.transaction() as transaction:
        transaction.add_events([each.event for each in many])
        transaction.add_deliveries(many)
        transaction.remove_deliveries(many[:-1])
        assert transaction.deliveries(["j"]) == {"j": (many[-1],)}


def test_deliveries_of_events_tell_all_that_became_of_an_event(store: Store) -> None:
    e, f, g = event("e"), event("f"), event("g")
    given = [
        delivery(f, "a/s", "0", job="k"),
        delivery(f, "a/s", "0", job="j"),
        delivery(e, "a/t", "0", reason="D-EXPIRED"),
        delivery(e, "a/s", "1", job="j"),
        delivery(g, "a/s", "1", job="j"),
    ]
    with store.transaction() as transaction:
        transaction.add_events([e, f, g])
        transaction.add_deliveries(given)
        found = transaction.deliveries_of_events(["f", "e", "none"])
        assert found == (given[3], given[2], given[1], given[0])
        assert transaction.deliveries_of_events([]) == ()


def test_what_was_discarded_at_the_door_is_no_jobs_whatever_its_name(store: Store) -> None:
    e = event("e")
    with store.transaction() as transaction:
        transaction.add_events([e])
        transaction.add_deliveries([delivery(e, reason="D-SUSPENDED")])
    with store.reading() as reader:
        assert reader.deliveries(["", "j"]) == {"": (), "j": ()}


def test_a_delivery_of_an_event_that_the_store_does_not_hold_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="event e, which"), store.transaction() as transaction:
        transaction.add_deliveries([delivery(event("e"), job="j")])


LEDGER = [
    # state of the job, its reason, the delivery's own reason -> the column of the delivery, or its reason
    (JobState.PENDING_TRIGGER, Reason.W_TRIGGER, None, "pending"),
    (JobState.PENDING_CONSTRAINT, Reason.W_WINDOW, None, "pending"),
    (JobState.PENDING_LAUNCH, None, None, "pending"),
    (JobState.LAUNCHED, None, None, "running"),
    (JobState.SUCCEEDED, None, None, "succeeded"),
    (JobState.FAILED, Reason.F_RUN, None, {"failed": {"F-RUN": 1}}),
    (JobState.FAILED, Reason.F_CANCELLED, None, {"failed": {"F-CANCELLED": 1}}),
    (JobState.FAILED, Reason.D_TIMEOUT, None, {"failed": {"D-TIMEOUT": 1}}),
    (JobState.FAILED, Reason.F_LAUNCH, None, {"discarded": {"F-LAUNCH": 1}}),
    (JobState.DISCARDED, Reason.D_TIMEOUT, None, {"discarded": {"D-TIMEOUT": 1}}),
    (None, None, "D-SUSPENDED", {"discarded": {"D-SUSPENDED": 1}}),
]


@pytest.mark.parametrize(("state", "reason", "own_reason", "column"), LEDGER)
def test_where_a_delivery_stands_in_the_ledger(
    store: Store,
    state: JobState | None,
    reason: Reason | None,
    own_reason: str | None,
    column: str | dict[str, dict[str, int]],
) -> None:
    e = event("e")
    with store.transaction() as transaction:
        transaction.add_events([e])
        if state is not None:
            transaction.put_jobs([job("j", state=state, reason=reason)])
        own = "j" if state is not None else None
        transaction.add_deliveries([delivery(e, job=own, reason=own_reason)])
    counted = {column: 1} if isinstance(column, str) else column
    expected = msgspec.convert({"schedule": "a/s", **counted}, LedgerRow)
    with store.reading() as reader:
        assert reader.ledger() == (expected,)
    assert expected.landed == 1
    assert expected.consumed == (column in ("running", "succeeded") or "failed" in column)


def test_the_ledger_has_a_row_for_each_schedule_and_can_be_asked_of_one_app(store: Store) -> None:
    events = [event(f"e{n}") for n in range(6)]
    with store.transaction() as transaction:
        transaction.add_events(events)
        transaction.put_jobs([job("j", state=JobState.SUCCEEDED), job("k"), job("l", "b/s")])
        transaction.add_deliveries(
            [
                *(delivery(e, job="j") for e in events[:3]),
                *(delivery(e, job="k") for e in events[3:5]),
                delivery(events[5], reason="D-SUSPENDED"),
                delivery(events[4], "b/s", job="l"),
                delivery(events[0], "ab/s", reason="D-EXPIRED"),
            ]
        )
    mine = LedgerRow(schedule="a/s", succeeded=3, pending=2, discarded={"D-SUSPENDED": 1})
    with store.reading() as reader:
        assert reader.ledger(app="a") == (mine,)
        assert [row.schedule for row in reader.ledger()] == ["a/s", "ab/s", "b/s"]
        assert reader.ledger(app="none") == ()


def test_the_journal_keeps_the_order_in_which_it_was_written(store: Store) -> None:
    first = entry(at=at(5), schedule="a/s", job="j", data={"n": 1})
    second = entry(EntryKind.DISCARDED, at=at(1), schedule="a/s", reason="D-TIMEOUT", event="e", run_id="r")
    third = entry(at=at(5), schedule="a/t", job="j")
    with store.transaction() as transaction:
        transaction.add_journal([first, second])
        transaction.add_journal([])
        transaction.add_journal([third])
    with store.reading() as reader:
        cases = [
            ({}, (first, second, third)),
            ({"limit": 2}, (second, third)),
            ({"schedule": "a/s"}, (first, second)),
            ({"job": "j"}, (first, third)),
            ({"job": "j", "limit": 1}, (third,)),
            ({"kinds": (EntryKind.DISCARDED,)}, (second,)),
            ({"job": "j", "kinds": (first.kind, EntryKind.DISCARDED), "limit": 1}, (third,)),
            ({"since": at(5)}, (first, third)),
            ({"since": at(5.1)}, ()),
        ]
        for filters, expected in cases:
            assert reader.journal(**filters) == expected, filters


def test_a_tuple_in_the_data_of_an_entry_comes_back_as_json_has_it(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.add_journal([entry(data={"keys": ("a", "b")})])
        assert transaction.journal()[0].data == {"keys": ["a", "b"]}


def test_what_lies_ahead_is_of_now(store: Store) -> None:
    now = at(5)
    with store.transaction() as transaction:
        transaction.add_events([event("before", 1), event("ahead", 900)])
        transaction.put_jobs([job("j", opened_at=at(900), satisfied_at=at(901)), job("k", opened_at=at(1))])
        transaction.add_deliveries([delivery(event("ahead", 900), job="j")])
        transaction.put_runs(
            [run("r", RunStatus.SUCCEEDED, started_at=at(4), ended_at=at(900)), run("s", ended_at=at(3))]
        )
        transaction.add_launches([launched("j", 900), launched("k", 2)])
        transaction.put_records(GAUGES, [gauge("g", 1, 900)])
        assert [each.id for each in transaction.events(after=now)] == ["ahead"]
        transaction.set_back(now)
    with store.reading() as reader:
        assert reader.events(after=now) == ()
        assert {each.id: each.arrived for each in reader.unrouted_events(9)} == {
            "before": at(1),
            "ahead": now,
        }
        jobs = {each.id: each for each in reader.jobs()}
        assert (jobs["j"].opened_at, jobs["j"].satisfied_at, jobs["k"].opened_at) == (now, now, at(1))
        assert [each.event.arrived for each in reader.deliveries(["j"])["j"]] == [now]
        runs = {each.run_id: each for each in reader.runs()}
        assert (runs["r"].started_at, runs["r"].ended_at, runs["s"].ended_at) == (at(4), now, at(3))
        assert reader.launches(["a/p"], at(0)) == {"a/p": (at(2), now)}
        assert reader.records(GAUGES)[0].reported_at == now


def test_what_is_taken_back_may_come_again(store: Store) -> None:
    several = event("several", 900, expired=True, number=7, first_at=at(1))
    with store.transaction() as transaction:
        transaction.add_events([several])
        transaction.add_deliveries([delivery(several, reason=Reason.D_EXPIRED)])
        assert transaction.ledger()[0].discarded == {"D-EXPIRED": 7}
        assert transaction.take_back_events(["several"]) == 1
        assert transaction.ledger() == ()
        assert [each.number for each in transaction.counts().events if each.number] == []
        assert [each.id for each in transaction.add_events([several])] == ["several"]

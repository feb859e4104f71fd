"""Every store lists events a page at a time, by what they are and by what became of them."""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

import pytest

from tests.doubles.reference.store import ReferenceStore
from tests.worlds.samples import at, delivery, event, job
from tidegate.scheduler.model.event import Event
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.store.sql import event_pages as sql_reader
from tidegate.scheduler.store.wanted import EventsWanted, Outcome

pytestmark = pytest.mark.slow  # stores on disk

A, B = "partition:a/d", "partition:b/d"
SUSPENDED, EXPIRED = Reason.D_SUSPENDED, Reason.D_EXPIRED


def fill(store: Store) -> None:
    """Events of two apps; a/s has jobs in all states, and b/s takes some of the same events."""
    events = {
        id: event(id, minutes, key=key, partition=partition)
        for id, minutes, key, partition in [
            ("done", 1, A, "k1"),
            ("failed", 2, A, "k2"),
            ("dead", 3, A, "k3"),
            ("held1", 4, A, "k1"),
            ("held2", 4, B, "k1"),
            ("left", 5, A, "k2"),
            ("off", 6, A, "k4"),
            ("on", 7, "fire:a/s:0", None),
            ("pruned", 7, A, "k5"),
            ("alone", 8, B, "k9"),
        ]
    }
    jobs = [
        job("j-done", state=JobState.SUCCEEDED, ended_at=at(8)),
        job("j-failed", state=JobState.FAILED, reason=Reason.F_RUN, ended_at=at(8)),
        job("j-dead", state=JobState.FAILED, reason=Reason.F_LAUNCH, ended_at=at(8)),
        job("j-held", state=JobState.PENDING_CONSTRAINT, reason=Reason.W_WINDOW),
        job("j-on", state=JobState.LAUNCHED),
        job("j-skipped", "b/s", state=JobState.DISCARDED, reason=Reason.D_WINDOW),
    ]
    with store.transaction() as transaction:
        transaction.add_events(list(events.values()))
        transaction.put_jobs(jobs)
        transaction.add_deliveries(
            [
                delivery(events["done"], job="j-done"),
                delivery(events["done"], "b/s", job="j-skipped"),
                delivery(events["failed"], job="j-failed"),
                delivery(events["dead"], job="j-dead"),
                delivery(events["held1"], leaf="0", job="j-held"),
                delivery(events["held1"], leaf="1", job="j-held"),
                delivery(events["held2"], leaf="0", job="j-held"),
                # It has left one leaf of the job, and is still in another one.
                delivery(events["held2"], leaf="1", job="j-held", reason=EXPIRED),
                delivery(events["left"], job="j-held", reason=EXPIRED),
                delivery(events["off"], reason=SUSPENDED),
                delivery(events["off"], "b/s", job="j-skipped"),
                delivery(events["on"], job="j-on"),
                delivery(events["pruned"], job="gone"),
            ]
        )


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


@pytest.fixture(params=[sql_reader.LOOKED_AT, 1], ids=["dense", "rare"])
def _looked_at(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page is found among the newest events, or has to be read from the other end."""
    monkeypatch.setattr(sql_reader, "LOOKED_AT", request.param)
    monkeypatch.setattr(sql_reader, "PER_ITEM", 0)


CASES: list[tuple[EventsWanted, str]] = [
    (EventsWanted(), "alone pruned on off left held2 held1 dead failed done"),
    (EventsWanted(key=A), "pruned off left held1 dead failed done"),
    (EventsWanted(key=A, partition="k1"), "held1 done"),
    (EventsWanted(key=A, partition="k1", outcome=Outcome.SUCCEEDED), "done"),
    (EventsWanted(partition="k1"), "held2 held1 done"),
    (EventsWanted(key=A, apps=["b"]), ""),
    (EventsWanted(key_prefix="fire:"), "on"),
    (EventsWanted(key_prefix="partition:", apps=["b"]), "alone held2"),
    (EventsWanted(apps=["a"]), "pruned on off left held1 dead failed done"),
    (EventsWanted(apps=[]), ""),
    (EventsWanted(since=at(2), until=at(4)), "dead failed"),
    (EventsWanted(before=(at(4), "held2")), "held1 dead failed done"),
    (EventsWanted(schedule="a/s"), "pruned on off left held2 held1 dead failed done"),
    (EventsWanted(schedule="a/s", apps=["b"]), ""),
    (EventsWanted(schedule="b/s", key=A), "off done"),
    (EventsWanted(schedule="b/s", partition="k4"), "off"),
    (EventsWanted(schedule="a/s", key_prefix="fire:"), "on"),
    (EventsWanted(schedule="a/s", outcome=Outcome.SUCCEEDED), "done"),
    (EventsWanted(schedule="a/s", outcome=Outcome.FAILED), "failed"),
    (EventsWanted(schedule="a/s", outcome=Outcome.RUNNING), "on"),
    (EventsWanted(schedule="a/s", outcome=Outcome.PENDING), "held2 held1"),
    (EventsWanted(schedule="a/s", outcome=Outcome.PENDING, key=B), "held2"),
    (EventsWanted(schedule="a/s", outcome=Outcome.DISCARDED), "off left dead"),
    (EventsWanted(schedule="a/s", outcome=Outcome.DISCARDED, until=at(6)), "left dead"),
    (EventsWanted(schedule="a/s", reason=SUSPENDED), "off"),
    (EventsWanted(schedule="a/s", reason=EXPIRED), "left"),
    (EventsWanted(schedule="a/s", reason=Reason.W_WINDOW), "held2 held1"),
    (EventsWanted(schedule="a/s", reason=Reason.F_RUN, outcome=Outcome.FAILED), "failed"),
    (EventsWanted(schedule="a/s", reason=Reason.F_RUN, outcome=Outcome.PENDING), ""),
    (EventsWanted(outcome=Outcome.DISCARDED), "off left dead done"),
    (EventsWanted(outcome=Outcome.DISCARDED, apps=["b"]), "off done"),
    (EventsWanted(outcome=Outcome.PENDING, apps=["b"]), ""),
    (EventsWanted(reason=Reason.D_WINDOW), "off done"),
    (EventsWanted(job="j-held"), "left held2 held1"),
    (EventsWanted(job="j-held", apps=["b"]), ""),
    (EventsWanted(job="j-held", outcome=Outcome.DISCARDED), "left"),
    (EventsWanted(job="j-held", key=B), "held2"),
    (EventsWanted(job="none"), ""),
]


@pytest.mark.usefixtures("_looked_at")
def test_events_are_filtered_and_come_newest_first(filled: Store) -> None:
    with filled.reading() as reader:
        for wanted, found in CASES:
            assert [each.id for each in reader.events_page(wanted, 20)] == found.split(), wanted
            assert [each.id for each in reader.events_page(wanted, 2)] == found.split()[:2], wanted


def combinations() -> Iterator[dict[str, Any]]:
    """All filters together, each left out or with one value."""
    values: dict[str, list[Any]] = {
        "key": [None, A],
        "key_prefix": ["", "partition:"],
        "partition": [None, "k1"],
        "schedule": [None, "a/s", "b/s"],
        "job": [None, "j-held"],
        "outcome": [None, *Outcome],
        "reason": [None, EXPIRED, Reason.F_LAUNCH],
        "apps": [None, ["b"]],
        "since": [None, at(2)],
        "until": [None, at(7)],
    }
    for chosen in product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def pages(store: Store, wanted: dict[str, Any]) -> list[list[Event]]:
    """Return pages of two events each."""
    found: list[list[Event]] = []
    before = None
    with store.reading() as reader:
        while more := list(reader.events_page(EventsWanted(**wanted, before=before), 2)):
            found.append(more)
            before = more[-1].arrived, more[-1].id
    return found


@pytest.mark.usefixtures("_looked_at")
def test_all_filters_together_find_the_same_as_in_memory(sql_store: Store) -> None:
    memory = ReferenceStore()
    for each in (memory, sql_store):
        fill(each)
    for number, wanted in enumerate(combinations()):
        # A part of them, of every value with every other one.
        if number % 37 == 0:
            assert pages(sql_store, wanted) == pages(memory, wanted), wanted


@pytest.mark.usefixtures("_looked_at")
def test_events_of_jobs_that_ran_for_long_are_in_their_places(
    sql_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs are read from the one that ended last on, and their events arrived in another order."""
    monkeypatch.setattr(sql_reader, "JOBS_AT_ONCE", 2)
    memory, drawn = ReferenceStore(), Random(3)
    failed = [
        job(f"j{n}", state=JobState.FAILED, reason=Reason.F_RUN, ended_at=at(60 * n)) for n in range(40)
    ]
    found = [
        (event(f"e{n}-{each}", max(0, 60 * n - drawn.choice((1, 70, 700))), key=A), f"j{n}")
        for n in range(40)
        for each in range(2)
    ]
    for store in (memory, sql_store):
        with store.transaction() as transaction:
            transaction.add_events([each for each, _ in found])
            transaction.put_jobs(failed)
            transaction.add_deliveries([delivery(each, job=of) for each, of in found])
    wanted: dict[str, Any] = {"outcome": Outcome.FAILED}
    assert pages(sql_store, wanted) == pages(memory, wanted)
    assert len(pages(memory, wanted)) == len(found) // 2
    with memory.reading() as expected, sql_store.reading() as reader:
        for limit in range(1, len(found) + 2):
            page = EventsWanted(**wanted)
            assert reader.events_page(page, limit) == expected.events_page(page, limit), limit

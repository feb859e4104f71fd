"""Arrivals and quiet times: what is read again of the events of a job, where only some of it is kept."""

from datetime import datetime, timedelta

import pytest

from tests.scheduler.triggers.counted import Rows
from tests.scheduler.triggers.trees import arrival
from tests.worlds.world import MIDNIGHT
from tidegate.scheduler.decision.triggers.counting.arrivals import BEGINNING, Arrivals, Nothing, arrived
from tidegate.scheduler.decision.triggers.counting.quiet_times import QuietTimes


def minute(count: int) -> datetime:
    return MIDNIGHT + timedelta(minutes=count)


def arrivals(*minutes: int) -> Arrivals:
    """The kept events of a job with one leaf."""
    rows = Rows()
    rows.change({}, [arrival(number, at, "", "k", 1).delivery for number, at in enumerate(minutes)])
    return Arrivals(rows, ("",), {"": minute(max(minutes))})


def test_events_that_have_left_are_not_there_any_more() -> None:
    found = arrivals(1, 2, 5)
    found.drop("", minute(2))
    assert [arrived(each) for each in found.after("", BEGINNING)] == [minute(2), minute(5)]
    assert (found.next("", BEGINNING), found.next("", minute(5))) == (minute(2), None)
    found.drop("", None)
    assert list(found.after("", BEGINNING)) == []


def test_of_a_job_that_keeps_no_events_only_those_that_are_new_are_known() -> None:
    found = Arrivals(Nothing(), ("",), {"": minute(5)})
    assert (found.next("", minute(1)), found.newest_below("", BEGINNING, minute(4))) == (None, None)
    found.add([arrival(1, 7, "", "k", 1).delivery])
    assert (found.next("", minute(1)), found.newest_below("", BEGINNING, minute(8))) == (minute(7), minute(7))
    assert found.known_below("") == minute(5)


@pytest.mark.parametrize(
    ("quiet", "before", "last"),
    [(4, 3, 6), (1, 1, 1)],
    ids=["each event starts the time again", "the time was over before the second event"],
)
def test_what_was_not_walked_is_walked_later(quiet: int, before: int, last: int) -> None:
    times = QuietTimes({"": minute(before)}, arrivals(1, 3, 6))
    # The part had come to minute 4 when the last event was there.
    times.restore("", minute(1), minute(4))
    times.bring("", timedelta(minutes=quiet), BEGINNING, minute(1), minute(8))
    assert times.last == {"": minute(last)}


@pytest.mark.parametrize(("quiet", "before", "last"), [(4, 3, 6), (1, 1, 3)])
def test_a_part_that_holds_later_after_its_chain_has_another_one(quiet: int, before: int, last: int) -> None:
    times = QuietTimes({}, arrivals(1, 3, 6))
    times.bring("", timedelta(minutes=quiet), BEGINNING, minute(1), minute(4))
    assert times.last == {"": minute(before)}
    times.bring("", timedelta(minutes=quiet), BEGINNING, minute(5), minute(8))
    assert times.last == {"": minute(last)}

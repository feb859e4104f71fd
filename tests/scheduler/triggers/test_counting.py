"""Kept counts: a trigger that is evaluated from them decides as it does from all events of the job."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduler.triggers.reference import Came
from tests.scheduler.triggers.trees import DATASETS, LAST_MINUTE, arrival, jobs
from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    App,
    Composite,
    CronTrigger,
    PartitionScheme,
    PartitionsTrigger,
    Program,
    RunTrigger,
    Schedule,
    SequenceTrigger,
    TimeDimension,
    Trigger,
    leaves,
)
from tidegate.scheduler.decision.triggers import evaluate
from tidegate.scheduler.decision.triggers.collected import collected, heard_keys
from tidegate.scheduler.decision.triggers.counting import advanced, basis_of, keys_asked
from tidegate.scheduler.decision.view.job_view import JobView
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.records.tally import TalliedKeys, Tally


def countable(trigger: Trigger) -> Trigger:
    """The trigger without the parts whose events cannot be counted."""
    trigger = msgspec.structs.replace(trigger, collect_within=None)
    if not isinstance(trigger, Composite):
        return trigger
    of = tuple(countable(member) for member in trigger.of)
    if isinstance(trigger, SequenceTrigger):
        options = (trigger.wait_at_most, trigger.quiet, trigger.quiet_at_most)
        names = ("wait_at_most", "quiet", "quiet_at_most")
        return AllTrigger(of=of, **dict(zip(names, options, strict=True)))
    return msgspec.structs.replace(trigger, of=of)


def view_of(trigger: Trigger) -> JobView:
    """A job that has collected nothing yet."""
    schedule = Schedule(name="s", program="p", trigger=trigger)
    app = App(name="a", datasets=DATASETS, programs={"p": Program(name="p", run="m.p")}, schedules={})
    return JobView(app=app, schedule=schedule, job=Job(id="j", schedule="a/s", opened_at=MIDNIGHT))


def heard(view: JobView, came: list[Came]) -> list[Delivery]:
    """The deliveries, of events of the keys that their leaves listen to."""
    keys = heard_keys(view)
    return [
        msgspec.structs.replace(
            each.delivery, event=msgspec.structs.replace(each.delivery.event, key=keys[each.leaf])
        )
        for each in came
    ]


def one_by_one(view: JobView, deliveries: list[Delivery]) -> tuple[Tally, TalliedKeys]:
    """The counts after one instant after the other, each with the keys that it asks for only."""
    tally, known = Tally(), dict[tuple[str, str], int]()
    for instant in sorted({each.event.arrived for each in deliveries}):
        added = [each for each in deliveries if each.event.arrived == instant]
        asked = keys_asked(view, tally, added)
        told = {place: value for place, value in known.items() if place[1] in asked}
        tally, changed = advanced(view, tally, added, told)
        known |= changed
    return tally, known


def same_decision(view: JobView, deliveries: list[Delivery]) -> None:
    """At every minute, with what has arrived by then."""
    for minute in range(LAST_MINUTE + 1):
        now = MIDNIGHT + timedelta(minutes=minute)
        by_now = [each for each in deliveries if each.event.arrived <= now]
        tally, known = one_by_one(view, by_now)
        assert (tally, known) == advanced(view, Tally(), by_now, {})
        kept = msgspec.structs.replace(view, tally=tally)
        whole = msgspec.structs.replace(view, deliveries=tuple(by_now))
        assert kept.events == whole.events
        found, expected = (evaluate(view.schedule.trigger, collected(each), now) for each in (kept, whole))
        assert found.met == expected.met
        assert (found.since, found.reason) == (expected.since, expected.reason)
        assert (found.next_check, found.holds_at) == (expected.next_check, expected.holds_at)


@given(job=jobs())
@settings(max_examples=40, derandomize=True)
def test_counts_decide_as_all_events_do(job):
    trigger, came = job
    view = view_of(countable(trigger))
    assert basis_of(view) is not None
    same_decision(view, heard(view, came))


RAW = PartitionsTrigger(dataset="raw", count=2)
MINUTES = [timedelta(minutes=count) for count in range(20)]
TREES = {
    "quiet inside quiet": AllTrigger(
        of=(msgspec.structs.replace(RAW, quiet=MINUTES[3]), RunTrigger(program="p", count=1)),
        quiet=MINUTES[4],
    ),
    "quiet beside other events": AllTrigger(
        of=(
            msgspec.structs.replace(RAW, quiet=MINUTES[2], quiet_at_most=MINUTES[5]),
            CronTrigger(cron="@daily"),
        ),
    ),
    "a wait at a member and at the top": AllTrigger(
        of=(RunTrigger(program="p", count=2, wait_at_most=MINUTES[6]), RAW), wait_at_most=MINUTES[12]
    ),
}
CAME = [(1, "0"), (2, "0"), (3, "1"), (4, "0"), (9, "0"), (10, "0"), (16, "1"), (17, "0")]


@pytest.mark.parametrize("trigger", TREES.values(), ids=list(TREES))
def test_counts_of_named_trees_decide_as_all_events_do(trigger: Trigger) -> None:
    came = [arrival(number, minute, leaf, f"k{number % 3}", 1) for number, (minute, leaf) in enumerate(CAME)]
    view = view_of(trigger)
    same_decision(view, heard(view, came))


WEEK = PartitionsTrigger(dataset="raw", complete="week")
WEEKS = {
    "a week": WEEK,
    "a quiet week": msgspec.structs.replace(WEEK, quiet=MINUTES[3], wait_at_most=MINUTES[19]),
    "a week or many days": AnyTrigger(of=(WEEK, msgspec.structs.replace(RAW, count=11))),
    "a month, and a week of another leaf": AllTrigger(
        of=(PartitionsTrigger(dataset="raw", complete="month", wait_at_most=MINUTES[12]), WEEK)
    ),
}
DAYS = [f"2013-01-{7 + number:02}" for number in range(14)]


@pytest.mark.parametrize("trigger", WEEKS.values(), ids=list(WEEKS))
@given(
    days=st.permutations(DAYS), again=st.lists(st.sampled_from(DAYS), max_size=6), at_once=st.integers(1, 3)
)
@settings(max_examples=8, derandomize=True)
def test_each_period_is_counted_apart_until_one_is_complete(
    trigger: Trigger, days: list[str], again: list[str], at_once: int
) -> None:
    view = view_of(trigger)
    paths = [leaf.path for leaf in leaves(trigger)]
    came = [
        arrival(2 * number + turn, number // at_once, path, day, 1)
        for number, day in enumerate([*days[:5], *again, *days[5:]])
        for turn, path in enumerate(paths)
    ]
    assert basis_of(view) is not None
    same_decision(view, heard(view, came))


def test_what_is_expected_of_a_period_is_part_of_the_basis() -> None:
    view = view_of(AnyTrigger(of=(RAW, WEEK)))
    later = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-08"))
    for partitions, same in ((DATASETS["raw"].partitions, True), (later, False)):
        dataset = msgspec.structs.replace(DATASETS["raw"], partitions=partitions)
        app = msgspec.structs.replace(view.app, datasets={"raw": dataset})
        assert (basis_of(msgspec.structs.replace(view, app=app)) == basis_of(view)) is same
    without = msgspec.structs.replace(view.app, datasets={})
    assert basis_of(msgspec.structs.replace(view, app=without)) is None


@pytest.mark.parametrize(
    "trigger",
    [msgspec.structs.replace(RAW, collect_within=MINUTES[5]), SequenceTrigger(of=(RAW, RAW))],
    ids=["collect_within", "sequence"],
)
def test_a_trigger_for_which_an_event_may_stop_counting_has_no_counts(trigger: Trigger) -> None:
    assert basis_of(view_of(trigger)) is None

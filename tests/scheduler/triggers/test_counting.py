"""Kept counts: a trigger that is evaluated from them decides as it does from all events of the job."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import given, settings

from tests.scheduler.triggers.reference import Came
from tests.scheduler.triggers.trees import DATASETS, LAST_MINUTE, arrival, jobs
from tests.scheduler.world import MIDNIGHT
from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    App,
    Composite,
    CronTrigger,
    PartitionsTrigger,
    Program,
    RunTrigger,
    Schedule,
    SequenceTrigger,
    Trigger,
)
from tidegate.scheduler.decision.job_view import JobView
from tidegate.scheduler.decision.triggers import evaluate
from tidegate.scheduler.decision.triggers.collected import collected, heard_keys
from tidegate.scheduler.decision.triggers.counting import advanced, basis_of, keys_asked
from tidegate.scheduler.model.event import Delivery
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.tally import TalliedKeys, Tally


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


@pytest.mark.parametrize(
    "trigger",
    [
        msgspec.structs.replace(RAW, collect_within=MINUTES[5]),
        SequenceTrigger(of=(RAW, RAW)),
        AnyTrigger(of=(RAW, PartitionsTrigger(dataset="raw", complete="month"))),
    ],
    ids=["collect_within", "sequence", "complete"],
)
def test_a_trigger_for_which_an_event_may_stop_counting_has_no_counts(trigger: Trigger) -> None:
    assert basis_of(view_of(trigger)) is None

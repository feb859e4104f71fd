"""Kept counts: a trigger that is evaluated from them decides as it does from all events of the job."""

from datetime import timedelta

import msgspec
from hypothesis import given, settings

from tests.scheduler.triggers.reference import Came
from tests.scheduler.triggers.trees import DATASETS, LAST_MINUTE, jobs
from tests.scheduler.world import MIDNIGHT
from tidegate.domain.model import AllTrigger, App, Composite, Program, Schedule, SequenceTrigger, Trigger
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

"""Kept counts: a trigger that is evaluated from them decides as it does from all events of the job."""

from datetime import timedelta

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.effort import much
from tests.scheduler.triggers.counted import CountedJob, view_of
from tests.scheduler.triggers.trees import DATASETS, arrival, jobs
from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import (
    AllTrigger,
    AnyTrigger,
    CronTrigger,
    PartitionScheme,
    PartitionsTrigger,
    RunTrigger,
    SequenceTrigger,
    SizeTrigger,
    TaskTrigger,
    TimeDimension,
    Trigger,
    leaves,
)
from tidegate.scheduler.decision.triggers.counting import arrivals
from tidegate.scheduler.decision.triggers.counting.arrivals import Nothing
from tidegate.scheduler.decision.triggers.counting.basis import EVENTS_ONLY, basis_of
from tidegate.scheduler.decision.triggers.counting.counter import Counter
from tidegate.scheduler.model.records.tally import Tally


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    """What is read in pages is read in several of them."""
    monkeypatch.setattr(arrivals, "EVENTS_READ", 2)
    monkeypatch.setattr(arrivals, "MOST_EVENTS_READ", 2)


@given(job=jobs())
@settings(max_examples=40, derandomize=True)
def test_counts_decide_as_all_events_do(job):
    trigger, came = job
    assume(basis_of(view_of(trigger)) is not None)
    CountedJob(trigger).live(came)


@pytest.mark.soak
@pytest.mark.endurance  # hundreds of trees, each at every minute
@given(job=jobs())
@settings(max_examples=much(60))
def test_so_they_do_for_very_many_trees(job):
    trigger, came = job
    assume(basis_of(view_of(trigger)) is not None)
    CountedJob(trigger).live(came)


MINUTES = [timedelta(minutes=count) for count in range(25)]
RAW = PartitionsTrigger(dataset="raw", count=2)
RUN = RunTrigger(program="p", count=1)
THREE = PartitionsTrigger(dataset="raw", count=3)
SIZE = SizeTrigger(dataset="raw", bytes=7)


def having(trigger, **options: int):
    """A trigger with options, in minutes."""
    return msgspec.structs.replace(trigger, **{name: MINUTES[count] for name, count in options.items()})


TREES = {
    "quiet inside quiet": AllTrigger(
        of=(having(RAW, quiet=3), RunTrigger(program="p", count=1)), quiet=MINUTES[4]
    ),
    "quiet beside other events": AllTrigger(
        of=(having(RAW, quiet=2, quiet_at_most=5), CronTrigger(cron="@daily"))
    ),
    "a wait at a member and at the top": AllTrigger(
        of=(RunTrigger(program="p", count=2, wait_at_most=MINUTES[6]), RAW), wait_at_most=MINUTES[12]
    ),
    "one after the other": SequenceTrigger(of=(THREE, RUN)),
    "turns beside others": AllTrigger(of=(RAW, SequenceTrigger(of=(RUN, RUN))), wait_at_most=MINUTES[9]),
    "a quiet turn": SequenceTrigger(of=(having(RAW, quiet=2), RUN), quiet=MINUTES[3]),
    "a turn that waits": SequenceTrigger(of=(THREE, having(RUN, wait_at_most=6))),
    "turns in turns": SequenceTrigger(of=(SequenceTrigger(of=(RAW, RUN)), THREE), wait_at_most=MINUTES[24]),
    "within a stretch": having(THREE, collect_within=3),
    "sizes within a stretch": having(SIZE, collect_within=4),
    "all within a stretch": AllTrigger(of=(THREE, RUN), collect_within=MINUTES[3]),
    "each within its own": AllTrigger(of=(having(RAW, collect_within=2), having(RUN, collect_within=3))),
    "within a stretch, or after a wait": AllTrigger(
        of=(having(THREE, collect_within=4), RUN), wait_at_most=MINUTES[3], collect_within=MINUTES[5]
    ),
    "quiet within a stretch": having(RAW, collect_within=8, quiet=4),
    "quiet above a stretch": AllTrigger(of=(having(RAW, collect_within=3), RUN), quiet=MINUTES[4]),
    "one after the other within a stretch": SequenceTrigger(of=(RAW, THREE), collect_within=MINUTES[5]),
    "a turn within a stretch": SequenceTrigger(of=(having(THREE, collect_within=4), RUN)),
    "quiet turns within a stretch": SequenceTrigger(
        of=(having(RUN, quiet=2), having(RAW, collect_within=4)), collect_within=MINUTES[9]
    ),
}
CAME = [
    (1, "0"),
    (2, "0"),
    (3, "1"),
    (4, "0"),
    (9, "0"),
    (10, "0"),
    (10, "1"),
    (16, "1"),
    (17, "0"),
    (20, "0"),
]


@pytest.mark.parametrize("trigger", TREES.values(), ids=list(TREES))
@pytest.mark.parametrize("keys", [1, 2, 3, 9])
def test_counts_of_named_trees_decide_as_all_events_do(trigger: Trigger, keys: int) -> None:
    paths = {leaf.path for leaf in leaves(trigger)}
    places = {"0": sorted(paths)[0], "1": sorted(paths)[-1]}
    came = [
        arrival(number, minute, places[leaf], f"k{number % keys}", number % 4)
        for number, (minute, leaf) in enumerate(CAME)
    ]
    assert basis_of(view_of(trigger)) is not None
    CountedJob(trigger).live(came)


WEEK = PartitionsTrigger(dataset="raw", complete="week")
WEEKS = {
    "a week": WEEK,
    "a quiet week": having(WEEK, quiet=3, wait_at_most=19),
    "a week within a stretch": having(WEEK, collect_within=9),
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
    paths = [leaf.path for leaf in leaves(trigger)]
    came = [
        arrival(2 * number + turn, number // at_once, path, day, 1)
        for number, day in enumerate([*days[:5], *again, *days[5:]])
        for turn, path in enumerate(paths)
    ]
    assert basis_of(view_of(trigger)) is not None
    CountedJob(trigger).live(came)


def test_what_is_expected_of_a_period_is_part_of_the_basis() -> None:
    view = view_of(AnyTrigger(of=(RAW, WEEK)))
    later = PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-08"))
    for partitions, same in ((DATASETS["raw"].partitions, True), (later, False)):
        dataset = msgspec.structs.replace(DATASETS["raw"], partitions=partitions)
        app = msgspec.structs.replace(view.app, datasets={"raw": dataset})
        assert (basis_of(msgspec.structs.replace(view, app=app)) == basis_of(view)) is same
    without = msgspec.structs.replace(view.app, datasets={})
    assert basis_of(msgspec.structs.replace(view, app=without)) is None


def test_what_may_be_waited_for_with_what_was_dropped_has_no_counts() -> None:
    """How long evidence stays in the job depends on waits, and waits on what is in the job."""
    waiting = having(AllTrigger(of=(having(RAW, quiet=3), RUN)), wait_at_most=9, collect_within=12)
    assert basis_of(view_of(waiting)) is None
    for left_out in ("wait_at_most", "collect_within"):
        assert basis_of(view_of(msgspec.structs.replace(waiting, **{left_out: None}))) is not None


def test_of_a_satisfied_job_that_drops_nothing_any_more_only_the_events_count() -> None:
    view = view_of(having(THREE, collect_within=3))
    view = msgspec.structs.replace(view, job=msgspec.structs.replace(view.job, satisfied_at=MIDNIGHT))
    assert basis_of(view) == EVENTS_ONLY
    counter = Counter(view, Tally(), Nothing())
    counter.advance([arrival(number, number, "", "k", 1).delivery for number in range(5)])
    tally = counter.tally()
    assert (tally.events, tally.deliveries, tally.leaves) == (5, 5, {})
    plain = msgspec.structs.replace(view_of(THREE), job=view.job)
    assert basis_of(plain) != EVENTS_ONLY


def test_a_task_has_no_counts() -> None:
    assert basis_of(view_of(TaskTrigger(cycle="day"))) is None

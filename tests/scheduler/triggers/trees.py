"""Random triggers, nested a few levels deep, and random arrivals for their leaves.

Everything happens within a few dozen minutes and options are of a few minutes each, so that they
meet each other at their boundaries all the time.
"""

from datetime import timedelta

from hypothesis import strategies as st

from tests.scheduler.triggers.collecting import collected
from tests.scheduler.triggers.reference import Came
from tests.worlds.trigger_trees import trigger_trees
from tests.worlds.world import MIDNIGHT
from tidegate.domain.model import (
    CronTrigger,
    Dataset,
    ElapsedTrigger,
    PartitionScheme,
    PartitionsTrigger,
    RunTrigger,
    SizeTrigger,
    TimeDimension,
    Trigger,
    leaves,
)
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.model.event import Delivery, Event, EventKind

LAST_ARRIVAL = 24
LAST_MINUTE = 48
"""Every option is over some time before it."""

DATASETS = {
    "raw": Dataset(
        name="raw",
        partitions=PartitionScheme(time=TimeDimension(name="day", cycle="day", start="2013-01-01")),
    )
}

_stretches = st.none() | st.integers(1, 12).map(lambda count: timedelta(minutes=count))


@st.composite
def _options(draw: st.DrawFn) -> dict[str, timedelta | None]:
    quiet = draw(st.one_of(st.none(), st.none(), _stretches))
    return {
        "wait_at_most": draw(st.one_of(st.none(), st.none(), _stretches)),
        "quiet": quiet,
        "quiet_at_most": draw(_stretches) if quiet is not None else None,
        "collect_within": draw(st.one_of(st.none(), st.none(), _stretches)),
    }


def _leaf() -> st.SearchStrategy[Trigger]:
    counts = st.integers(1, 3)
    return st.one_of(
        st.builds(
            lambda count, distinct, options: PartitionsTrigger(
                dataset="raw", count=count, distinct=distinct, **options
            ),
            counts,
            st.booleans(),
            _options(),
        ),
        st.builds(
            lambda size, distinct, options: SizeTrigger(
                dataset="raw", bytes=size, distinct=distinct, **options
            ),
            st.integers(1, 20),
            st.booleans(),
            _options(),
        ),
        st.builds(lambda count, options: RunTrigger(program="p", count=count, **options), counts, _options()),
        st.builds(lambda options: CronTrigger(cron="@daily", **options), _options()),
        st.builds(lambda options: ElapsedTrigger(for_=timedelta(hours=1), **options), _options()),
    )


triggers = trigger_trees(_leaf(), _options(), members=(1, 3), needed=(1, 3))


@st.composite
def jobs(draw: st.DrawFn) -> tuple[Trigger, list[Came]]:
    """A trigger, and what comes for it."""
    trigger = draw(triggers)
    paths = [leaf.path for leaf in leaves(trigger)]
    came = draw(
        st.lists(
            st.builds(
                arrival,
                st.integers(0, 10**6),
                st.integers(0, LAST_ARRIVAL),
                st.sampled_from(paths),
                st.sampled_from(["a", "b", "c"]),
                st.none() | st.integers(0, 9),
            ),
            min_size=1,
            max_size=12,
            unique_by=lambda each: each.delivery.event.id,
        )
    )
    return trigger, came


def arrival(number: int, minute: int, leaf: str, key: str, size: int | None) -> Came:
    """An event at a leaf; it is of the kind of a fire, which every kind of leaf counts."""
    at = MIDNIGHT + timedelta(minutes=minute)
    event = Event(
        id=f"e{number:07}",
        kind=EventKind.FIRE,
        key="any",
        time=at,
        arrived=at,
        partition=key,
        bytes=size,
    )
    return Came(minute, leaf, Delivery(event=event, schedule="a/s", leaf=leaf, job="j", at=at))


def collection(came: list[Came]) -> Collected:
    """What a job has collected, as the engine sees it."""
    return collected((each.delivery for each in came), DATASETS)

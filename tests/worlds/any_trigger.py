"""Any trigger over a few datasets and a program, and any arrivals: what the property tests draw from."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from hypothesis import strategies as st

from tests.worlds.trigger_trees import trigger_trees
from tests.worlds.world import World
from tidegate.compiler.fingerprint import canonical
from tidegate.compiler.render.trigger_yaml import written_trigger
from tidegate.domain.model import PartitionsTrigger, RunTrigger, SizeTrigger, Trigger
from tidegate.scheduler.model.job import Job

Arrivals = list[tuple[int, str, str]]
"""Minute after ten, dataset or program, partition key."""

DAYS = [f"2026-03-0{day}" for day in range(1, 6)]
DATASETS = ["raw", "other"]


@st.composite
def _option(draw: st.DrawFn) -> dict[str, timedelta]:
    """One option, or none."""
    option = draw(st.sampled_from(["", "", "wait_at_most", "quiet"]))
    return {option: timedelta(minutes=draw(st.integers(1, 9)))} if option else {}


@st.composite
def _leaf(draw: st.DrawFn) -> Trigger:
    kind = draw(st.sampled_from(["partitions", "writes", "keys", "size", "run"]))
    count, dataset = draw(st.integers(1, 4)), draw(st.sampled_from(DATASETS))
    option: dict[str, Any] = draw(_option())
    match kind:
        case "partitions":
            return PartitionsTrigger(dataset=dataset, count=count, **option)
        case "writes":
            return PartitionsTrigger(dataset=dataset, count=count, distinct=False, **option)
        case "keys":
            return PartitionsTrigger(dataset=dataset, keys=(draw(st.sampled_from(DAYS)),), **option)
        case "size":
            return SizeTrigger(dataset=dataset, rows=10 * count, **option)
        case _:
            return RunTrigger(program="r", count=count, **option)


def _as_yaml(trigger: Trigger) -> str:
    return json.dumps(written_trigger(canonical(trigger)))


TRIGGERS = trigger_trees(_leaf(), st.just({}), members=(2, 3), needed=(2, 2)).map(_as_yaml)
"""As YAML in one line."""

ARRIVALS = st.lists(
    st.tuples(st.integers(0, 20), st.sampled_from([*DATASETS, "r"]), st.sampled_from(DAYS)), max_size=8
)


def arrive(world: World, arrivals: Arrivals, by_hand: Callable[[int], object] = lambda minute: None) -> None:
    """Everything arrives in its minute, and the engine is there all the time, until eleven.

    Args:
        by_hand: what a person does in each minute, before anything arrives in it.
    """
    numbered = [(minute, what, day, number) for number, (minute, what, day) in enumerate(sorted(arrivals))]
    world.tick("09:59")
    for minute in range(60):
        clock = f"10:{minute:02}"
        by_hand(minute)
        for at, what, day, number in numbered:
            if at == minute and what == "r":
                world.run(clock, "r", "succeeded", f"run-{number}")
            elif at == minute:
                world.arrive(clock, what, day, rows=10)
        if minute in {each[0] for each in numbered} or minute % 10 == 0:
            world.tick(clock)
    world.tick("10:59")


def collected(world: World, job: Job) -> set[tuple[str, str]]:
    with world.store.reading() as reader:
        return {(each.event.id, each.leaf) for each in reader.deliveries([job.id])[job.id]}

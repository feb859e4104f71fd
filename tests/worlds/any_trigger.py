"""Any trigger over a few datasets and a program, and any arrivals: what the property tests draw from."""

from collections.abc import Callable

from hypothesis import strategies as st

from tests.worlds.world import World
from tidegate.scheduler.model.job import Job

Arrivals = list[tuple[int, str, str]]
"""Minute after ten, dataset or program, partition key."""

DAYS = [f"2026-03-0{day}" for day in range(1, 6)]
DATASETS = ["raw", "other"]
LEAVES = ["partitions", "writes", "keys", "size", "run"]
COMPOSITES = ["all", "any", "sequence", "at_least"]


@st.composite
def triggers(draw: st.DrawFn, depth: int = 2) -> str:
    """A trigger as YAML in one line, nested up to a depth."""
    kind = draw(st.sampled_from(LEAVES if depth == 0 else LEAVES + COMPOSITES))
    count, dataset = draw(st.integers(1, 4)), draw(st.sampled_from(DATASETS))
    match kind:
        case "partitions":
            return _waiting(draw, f"partitions: {{dataset: {dataset}, count: {count}}}")
        case "writes":
            return _waiting(draw, f"partitions: {{dataset: {dataset}, count: {count}, distinct: false}}")
        case "keys":
            return _waiting(
                draw, f"partitions: {{dataset: {dataset}, keys: [{draw(st.sampled_from(DAYS))}]}}"
            )
        case "size":
            return _waiting(draw, f"size: {{dataset: {dataset}, rows: {10 * count}}}")
        case "run":
            return _waiting(draw, f"run: {{program: r, count: {count}}}")
        case _:
            members = ", ".join(draw(triggers(depth - 1)) for _ in range(draw(st.integers(2, 3))))
            return (
                f"{{at_least: {{n: 2, of: [{members}]}}}}"
                if kind == "at_least"
                else f"{{{kind}: [{members}]}}"
            )


def _waiting(draw: st.DrawFn, leaf: str) -> str:
    """The leaf, with an option or without."""
    option = draw(st.sampled_from(["", "", "wait_at_most", "quiet"]))
    return f"{{{leaf}, {option}: {draw(st.integers(1, 9))}m}}" if option else f"{{{leaf}}}"


TRIGGERS = triggers()

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

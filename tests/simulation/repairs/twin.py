"""A history of repairs and its twin: the same app, in whose history all data came in time.

At the quiet end the table of each key within its bounds must be that of the twin; of the others too, once a
person has replayed what came too late.
"""

from tests.doubles.faulty_store import FaultyStore
from tests.doubles.reference.store import ReferenceStore
from tests.simulation.history import FAULT_RATE, played
from tests.simulation.repairs.world import RepairWorld
from tidegate.scheduler.store.protocol import Store

STEPS = 60


def history(
    store: Store, seed: int, *, steps: int = STEPS, rate: float = FAULT_RATE, after_commit: bool = True
) -> RepairWorld:
    """Play one history and its twin, and compare their tables; it raises where a promise was broken."""

    def play(faulty: FaultyStore) -> RepairWorld:
        world = RepairWorld(faulty, seed)
        world.live(steps)
        world.settle()
        world.judge_at_the_end()
        twin = twin_of(world, seed)
        compare(world, twin)
        if not world.prunes:
            for each in (world, twin):
                each.replay()
                each.judge_at_the_end()
            compare(world, twin)
        return world

    what = f"repairs, seed {seed} with {steps} steps failed"
    return played(store, seed, rate, what, play, after_commit=after_commit)


def twin_of(world: RepairWorld, seed: int) -> RepairWorld:
    """Play the history of the same app in which all data came in time, in its last version."""
    twin = RepairWorld(FaultyStore(ReferenceStore()), seed)
    twin.chance.app = world.chance.app
    twin.deploy_now()
    twin.come(sorted(world.versions))
    twin.tables.landed.update(world.tables.landed)
    twin.settle()
    twin.judge_at_the_end()
    return twin


def compare(world: RepairWorld, twin: RepairWorld) -> None:
    """The tables of all keys for which that is promised are the same."""
    for name in world.oracle.specs:
        for key in world.chance.keys(name):
            place = (name, key)
            if not (world.promises(place) and twin.promises(place)):
                world.oracle.met["beyond"] += 1
                continue
            found, expected = (each.tables.content(name, key) for each in (world, twin))
            assert found == expected, f"{name}[{key}] is\n  {found}, and was to be\n  {expected}"
            world.oracle.met["as in time"] += found is not None
            repaired = any(repairs for _, repairs in world.oracle.chain.get(place, ()))
            world.oracle.met[f"{name} repaired, and as in time"] += repaired

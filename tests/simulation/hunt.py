"""`python -m tests.simulation.hunt SECONDS [tasks|maintenance]`: play histories until one of them fails.

Prints the seed and what it found, and ends with 1 where something failed, with 0 where nothing did. It
imports nothing of pytest, so it starts fast, and plays the packages of the folder it is started in.
"""

import sys
import time
import traceback

from tests.simulation.history import FAULT_RATE, STEPS, history
from tests.simulation.kept_seeds import kept_seeds
from tests.simulation.maintenance.world import history as maintenance_history
from tests.simulation.tasks.world import history as tasks_history
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.tick.generate import INSTANCES_PER_TICK

FEW_INSTANCES = 30
"""In every other history of tasks, a tick makes so few instances that it leaves days to the next one."""


def hunt(seconds: float, what: str) -> int:
    """The exit code.

    Args:
        what: "tasks", "maintenance", or "" for schedules.
    """
    until = time.monotonic() + seconds
    seeds = [*kept_seeds(), *((seed, STEPS) for seed in range(100_000))]
    for played, (seed, steps) in enumerate(seeds, start=1):
        try:
            if what == "tasks":
                tasks_history(MemoryStore(), seed, instances=(INSTANCES_PER_TICK, FEW_INSTANCES)[played % 2])
            elif what == "maintenance":
                maintenance_history(MemoryStore(), seed)
            else:
                history(MemoryStore(), seed, steps=steps, rate=FAULT_RATE, after_commit=True)
        except Exception as error:  # noqa: BLE001 - whatever the bug does is a find
            traceback.print_exc(limit=-3)
            print(f"history {played}, seed {seed}: {str(error)[:400]}")
            return 1
        if time.monotonic() > until:
            break
    print(f"{played} histories, and nothing was found")
    return 0


if __name__ == "__main__":
    sys.exit(hunt(float(sys.argv[1]), " ".join(sys.argv[2:])))

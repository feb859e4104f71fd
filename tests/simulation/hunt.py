"""`python -m tests.simulation.hunt SECONDS [KIND] [SEED STEPS]`: play until one fails.

KIND is tasks, changes, maintenance or retention; without it schedules are played.

Prints the seed and what it found, and ends with 1 where something failed, with 0 where nothing did. It
imports nothing of pytest, so it starts fast, and plays the packages of the folder it is started in. A history
that is named is played first.
"""

import sys
import time
import traceback

from tests.simulation.history import FAULT_RATE, STEPS, history
from tests.simulation.kept_seeds import kept_seeds
from tests.simulation.maintenance.world import history as maintenance_history
from tests.simulation.retention.pruned import compare
from tests.simulation.tasks.world import STEPS as TASK_STEPS
from tests.simulation.tasks.world import history as tasks_history
from tidegate.scheduler.store.memory.store import MemoryStore


def hunt(seconds: float, what: str, first: tuple[int, int] | None) -> int:
    """The exit code.

    Args:
        what: "tasks", "changes" (of tasks), "maintenance", "retention", or "" for schedules.
        first: seed and steps of the first history.
    """
    until = time.monotonic() + seconds
    usual = TASK_STEPS if what in ("tasks", "changes") else STEPS
    kept = [] if what == "retention" else kept_seeds()
    seeds = [*([first] if first else kept), *((seed, usual) for seed in range(100_000))]
    played = 0
    for played, (seed, steps) in enumerate(seeds, start=1):
        try:
            if what in ("tasks", "changes"):
                tasks_history(MemoryStore(), seed, steps, changes=what == "changes")
            elif what == "maintenance":
                maintenance_history(MemoryStore(), seed)
            elif what == "retention":
                compare(seed, steps=steps)
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
    _, seconds, *words = sys.argv
    numbers = [int(word) for word in words if word.isdigit()]
    kind = " ".join(word for word in words if not word.isdigit())
    sys.exit(hunt(float(seconds), kind, (numbers[0], numbers[1]) if numbers else None))

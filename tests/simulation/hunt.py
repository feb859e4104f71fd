"""`python -m tests.simulation.hunt SECONDS [KIND…] [SEED STEPS]`: play until one fails.

A KIND is tasks, changes, landed, maintenance, retention, people, dates, repairs or schedules, which are
played without it.

Prints the seed and what it found, and ends with 1 where something failed, with 0 where nothing did. It
imports nothing of pytest, and only what its kind of history needs, so it starts fast; it plays the packages
of the folder it is started in. A history that is named is played first.
"""

import sys
import time
import traceback
from collections.abc import Callable

from tests.doubles.reference.store import ReferenceStore
from tests.simulation.kept_seeds import kept_seeds
from tidegate.scheduler.store.memory.store import MemoryStore


def player(what: str) -> tuple[Callable[[int, int], object], int]:
    """What plays a history of a seed with so many steps, and how many steps are usual."""
    if what in ("tasks", "changes", "landed"):
        from tests.simulation.tasks.world import STEPS, history

        kinds = {"changes": what != "tasks", "landed": what == "landed"}
        return lambda seed, steps: history(MemoryStore(), seed, steps, **kinds), STEPS
    if what == "dates":
        from tests.simulation.dates.world import STEPS as DAYS
        from tests.simulation.dates.world import history as of_dates

        return of_dates, DAYS
    from tests.simulation.history import FAULT_RATE, STEPS
    from tests.simulation.history import history as of_schedules

    if what == "maintenance":
        from tests.simulation.maintenance.world import history as of_operations

        return lambda seed, _: of_operations(ReferenceStore(), seed), STEPS
    if what == "people":
        from tests.simulation.people.world import history as of_people

        return lambda seed, steps: of_people(MemoryStore(), seed, steps=steps, after_commit=True), STEPS
    if what == "repairs":
        from tests.simulation.repairs.twin import STEPS as REPAIR_STEPS
        from tests.simulation.repairs.twin import history as of_repairs

        return lambda seed, steps: of_repairs(ReferenceStore(), seed, steps=steps), REPAIR_STEPS
    if what == "retention":
        from tests.simulation.retention.pruned import compare

        return lambda seed, steps: compare(seed, steps=steps), STEPS
    return (
        lambda seed, steps: of_schedules(
            MemoryStore(), seed, steps=steps, rate=FAULT_RATE, after_commit=True
        ),
        STEPS,
    )


def hunt(seconds: float, what: str, first: tuple[int, int] | None) -> int:
    """The exit code.

    Args:
        what: "tasks", "changes" (of tasks), "landed" (data of tasks), "maintenance", "retention", "people",
            "dates", "repairs", "schedules" or "", which is the same.
        first: seed and steps of the first history.
    """
    until = time.monotonic() + seconds
    play, usual = player(what)
    kept = [] if what in ("retention", "people", "dates", "landed", "repairs") else kept_seeds()
    seeds = [*([first] if first else kept), *((seed, usual) for seed in range(100_000))]
    played = 0
    for played, (seed, steps) in enumerate(seeds, start=1):
        try:
            play(seed, steps)
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
    first = (numbers[0], numbers[1]) if numbers else None
    kinds = [word for word in words if not word.isdigit()] or ["schedules"]
    sys.exit(max(hunt(float(seconds), kind, first) for kind in kinds))

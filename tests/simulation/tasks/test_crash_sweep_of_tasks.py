"""One long scenario of cycle tasks, in which the process dies once at each point of each step.

In `make test` at each commit, after each, and at some of the calls; in a soak at many more. What had not been
committed leaves no trace: the store is the same as after the undisturbed step. After a commit of which no
process heard the step is done twice, and the scenario is played to its end, where every instance must have
come to the same end, with the same upstream instances and attempts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.dump import dump
from tests.simulation.faulty_store import FaultyStore
from tests.simulation.hands import Hands
from tests.simulation.tasks.journal import judge_journal
from tests.simulation.tasks.long_scenario import START, scenario
from tests.simulation.test_crash_sweep import Rewinding, RewindingMemory, RewindingSqlite, chosen
from tests.tally import reach
from tidegate.scheduler.model.journal import EntryKind

POINTS_MIN = 250

HAPPENS = (
    EntryKind.INSTANCE,
    EntryKind.PASSED,
    EntryKind.MARKED,
    EntryKind.PAUSED,
    EntryKind.RERUN,
    EntryKind.REPORTED,
    EntryKind.BACKFILL,
    EntryKind.LAUNCH,
    EntryKind.RETRY,
    EntryKind.REMADE,
    EntryKind.GONE,
    EntryKind.DISCARDED,
)


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.endurance)])
def rewinding(request: pytest.FixtureRequest, tmp_path: Path):
    made = RewindingMemory() if request.param == "memory" else RewindingSqlite(tmp_path)
    yield made
    made.store.close()


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """How every instance came out; not when it was launched, or how often it was offered."""
    names = ("id", "state", "reason", "attempt", "commit", "satisfied_at", "instance")
    jobs = [[*(job[name] for name in names), (job["launch"] or {}).get("manifest")] for job in tables["jobs"]]
    return [jobs, tables["slots"]]


def test_a_crash_at_any_point_of_a_long_scenario_of_tasks_changes_nothing(rewinding: Rewinding) -> None:
    hands, steps = Hands(FaultyStore(rewinding.store), START), []
    for step in scenario():
        before, hands_before = rewinding.snapshot(), hands.copy(hands.store)
        hands.store.places = []
        step(hands)
        steps.append((step, before, hands_before, hands.store.places, dump(hands.store)))
    end = essence(dump(hands.store))
    with hands.store.reading() as reader:
        happened = {entry.kind for entry in reader.journal()}
        judge_journal(reader.journal(), reader)
    assert not [kind for kind in HAPPENS if kind not in happened]
    hands.store.release()

    swept = 0
    for number, (step, before, hands_before, places, after) in enumerate(steps):
        for point, place in chosen(places, every=4 * rewinding.every, first=number):
            rewinding.back_to(before)
            faulty = FaultyStore(rewinding.store)
            faulty.fail_at = point
            revived = hands_before.copy(faulty)
            step(revived)
            assert faulty.crashes == 1, f"step {number} never came to point {point}"
            if dump(faulty) != after:
                assert place == "committed", f"step {number}: the crash at point {point} left a trace"
                for rest, *_ in steps[number + 1 :]:
                    rest(revived)
                assert essence(dump(faulty)) == end, f"step {number}, point {point}"
                with faulty.reading() as reader:
                    judge_journal(reader.journal(), reader)
            faulty.release()
            swept += 1
    reach("points of the crash sweep of tasks", swept)
    assert swept >= POINTS_MIN

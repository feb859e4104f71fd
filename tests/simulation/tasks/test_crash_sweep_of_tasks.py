"""One long scenario of cycle tasks, in which the process dies once at each point of each step.

In `make test` at each commit, after each, and at some of the calls, in memory; in a soak at many more, and
on SQLite too. What had not been committed leaves no trace: the store is the same as after the undisturbed
step. After a commit of which no process heard the step is done twice, and the scenario is played to its end,
where every instance must have come to the same end, with the same upstream instances and attempts.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.sweep import STORES, Rewinding, Undisturbed
from tests.simulation.tasks.journal import DEEDS, judge_journal
from tests.simulation.tasks.long_scenario import START, scenario
from tests.tally import reach
from tidegate.scheduler.model.journal import EntryKind

POINTS_MIN = 250

HAPPENS = (*DEEDS, EntryKind.REMADE, EntryKind.GONE, EntryKind.DISCARDED)


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """How every instance came out; not when it was launched, or how often it was offered."""
    names = ("id", "state", "reason", "attempt", "commit", "satisfied_at", "instance")
    jobs = [[*(job[name] for name in names), (job["launch"] or {}).get("manifest")] for job in tables["jobs"]]
    return [jobs, tables["slots"]]


@pytest.mark.slow
@pytest.mark.parametrize("rewinding", STORES, indirect=True)
def test_a_crash_at_any_point_of_a_long_scenario_of_tasks_changes_nothing(rewinding: Rewinding) -> None:
    undisturbed = Undisturbed(rewinding, scenario(), START, essence)
    with undisturbed.hands.store.reading() as reader:
        happened = {entry.kind for entry in reader.journal()}
    judge(undisturbed.hands.store)
    assert not [kind for kind in HAPPENS if kind not in happened]

    swept = undisturbed.swept(judge, every=2 * rewinding.every)
    reach("points of the crash sweep of tasks", swept)
    assert swept >= POINTS_MIN


def judge(store: FaultyStore) -> None:
    """The journal of a history, with or without a crash, keeps every promise."""
    with store.reading() as reader:
        judge_journal(reader.journal(), reader)

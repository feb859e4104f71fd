"""One long scenario, in which the process dies once at each point, each time in a history of its own.

In `make test` at each twentieth call in memory; in a soak at far more (see `every`), and on SQLite too.

A point is a call in a transaction (on SQLite a statement), the moment before a commit, and the one
after it. The history up to the step with the point is taken from a snapshot; then the process
dies, comes back and does the step again. What had not been committed must leave no trace: the
store is the same as after the undisturbed step, hence all that follows is. After a commit of
which no process heard the step is done twice; then the scenario is played to its end, where every job
must have come to the same end, for the same reason, with the same manifest.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.long_scenario import START, scenario
from tests.simulation.oracle.oracle import Oracle
from tests.simulation.sweep import STORES, Rewinding, Undisturbed
from tests.tally import PROMISED, reach

pytestmark = pytest.mark.endurance  # hundreds of histories for each store


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """How every job came out, and what became of every event.

    When a job was launched is not part of it, nor which run it got: a request that was lost leaves
    again later.
    """
    compared = ("id", "state", "reason", "satisfied_at", "attempt", "by_hand", "closed")
    jobs = [
        [*(job[name] for name in compared), (job["launch"] or {}).get("manifest")] for job in tables["jobs"]
    ]
    events = sorted(event["id"] for event in tables["events"] if event["kind"] != "run")
    deliveries = [each[:5] for each in tables["deliveries"] if not each[0].startswith("run:")]
    late = [
        [each["dataset"], each["period"], each["landed_at"] is None] for each in tables["expected_periods"]
    ]
    return [jobs, deliveries, tables["slots"], events, late, tables["late_totals"]]


@pytest.mark.parametrize("rewinding", STORES, indirect=True)
def test_a_crash_at_any_point_of_a_long_scenario_changes_nothing(rewinding: Rewinding) -> None:
    swept = Undisturbed(rewinding, scenario(), START, essence).swept(judge, every=rewinding.every)
    reach("points of the crash sweep", swept)
    assert swept >= PROMISED["points of the crash sweep"]


def judge(store: FaultyStore) -> None:
    """The journal of a history with a crash keeps every promise."""
    with store.reading() as reader:
        Oracle().read_all(reader.journal())

"""One day of overrides, in which the process dies once at each point of each step.

In `make test` at each commit, after each, and at some of the calls; in a soak at many more. What had not been
committed leaves no trace. After a commit of which no process heard the step is done twice, and the day is
played to its end, where the same is overridden, the schedules are the same, and each override has ended once.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.doubles.faulty_store import FaultyStore
from tests.simulation.people.long_scenario import START, scenario
from tests.simulation.people.oracle import PeopleOracle
from tests.simulation.sweep import Rewinding, RewindingMemory, RewindingSqlite, Undisturbed
from tests.tally import reach
from tidegate.scheduler.model.records.override import OVERRIDES

pytestmark = pytest.mark.endurance  # a history for each point

POINTS_MIN = 60


def essence(tables: Mapping[str, Any]) -> list[Any]:
    """How all has come out: overrides and what has become of them, schedules, and jobs."""
    names = ("ref", "status", "fingerprint", "overridden", "suspended_at", "active_since")
    schedules = [[state[name] for name in names] for state in tables["schedules"]]
    ended = [
        [entry["at"], entry["schedule"], entry["data"]["override"], entry["data"].get("cause")]
        for entry in tables["journal"]
        if entry["kind"] == "override"
    ]
    jobs = [[job[name] for name in ("id", "state", "reason", "satisfied_at")] for job in tables["jobs"]]
    return [tables["overrides"], schedules, ended, jobs]


def test_a_crash_at_any_point_of_a_day_of_overrides_changes_nothing() -> None:
    sweep(RewindingMemory())


@pytest.mark.soak
def test_so_it_is_on_sqlite(tmp_path: Path) -> None:
    on_disk = RewindingSqlite(tmp_path)
    sweep(on_disk)
    on_disk.store.close()


def sweep(rewinding: Rewinding) -> None:
    undisturbed = Undisturbed(rewinding, scenario(), START, essence)
    judged = judge(undisturbed.hands.store)
    assert {cause for _, cause in judged.ended} == {"expired", "reverted", "undone", "deleted", "deployed"}

    swept = undisturbed.swept(judge, every=2 * rewinding.every)
    reach("points of the crash sweep of overrides", swept)
    assert swept >= POINTS_MIN


def judge(store: FaultyStore) -> PeopleOracle:
    """The journal of a history, with or without a crash, keeps every promise."""
    oracle = PeopleOracle()
    with store.reading() as reader:
        oracle.read_all(reader.journal())
        oracle.same_overrides(reader.records(OVERRIDES))
    return oracle

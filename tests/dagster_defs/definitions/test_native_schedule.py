"""Native schedules: a tick that comes before one is parked says who fires it, and touches nothing."""

from datetime import UTC, datetime

import pytest
from dagster import build_schedule_context

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import location_of
from tests.doubles.dump import dump
from tests.doubles.reference.store import ReferenceStore

pytestmark = pytest.mark.dagster

SIX = datetime(2023, 3, 11, 6, 0, tzinfo=UTC)


def test_a_tick_says_that_the_engine_fires_it_and_opens_no_store(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule = repository_of(location_of(store)).get_schedule_def("report_daily")
    before = dump(store)
    monkeypatch.setattr(ReferenceStore, "reading", None)
    monkeypatch.setattr(ReferenceStore, "transaction", None)

    outcome = schedule.evaluate_tick(build_schedule_context(scheduled_execution_time=SIX))

    monkeypatch.undo()
    assert outcome.skip_message == (
        "the engine fires flights/report_daily itself, at 2023-03-11 06:00:00Z too:"
        " see `tidegate schedules show flights/report_daily`"
    )
    assert not outcome.run_requests
    assert dump(store) == before

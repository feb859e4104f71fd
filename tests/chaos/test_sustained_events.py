"""Events over REST while runs execute: the active host is killed, and no event is lost or in two runs."""

import pytest

from benchmarks.sustained import A_RUN, sustained

pytestmark = [pytest.mark.dagster, pytest.mark.endurance, pytest.mark.soak, pytest.mark.timeout(1200)]

SECONDS, EVENTS_A_SECOND = 30.0, 400.0


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_no_event_is_lost_when_the_active_host_is_killed_under_load(kind: str) -> None:
    load = sustained(kind, SECONDS, EVENTS_A_SECOND)
    assert load.accepted == SECONDS * EVENTS_A_SECOND
    assert load.jobs == load.accepted / A_RUN

"""`load`: active runs of the whole store, or a gauge that is reported."""

import pytest

from tests.worlds.job_view_of import RUNS, job_view_of
from tests.worlds.world import at
from tidegate.domain.model import LoadConstraint
from tidegate.scheduler.decision.constraints.load import check
from tidegate.scheduler.model.run import Gauge

RUN_ROWS = [
    ("nothing runs", 2, 0, True),
    ("the coming run is the last that may be", 2, 1, True),
    ("the coming run would be one too many", 2, 2, False),
    ("more by hand than allowed", 2, 5, False),
]


@pytest.mark.parametrize(("sentence", "most", "active", "met"), RUN_ROWS, ids=[row[0] for row in RUN_ROWS])
def test_active_runs(sentence, most, active, met):
    verdict = check(LoadConstraint(max_active_runs=most), job_view_of(slots={RUNS: active}), at("10:00"))
    assert (verdict.met, verdict.blocked_on) == (met, None if met else "runs")
    assert verdict.summary == f"{active} run(s) of all programs are active, at most {most} may be"


GAUGE_ROWS = [
    ("below", 79.5, True, "gauge cpu is 79.5, at most 80 is allowed; reported at 2026-03-10T09:00:00+00:00"),
    ("exactly at its limit", 80, True, None),
    ("above", 80.1, False, None),
    ("never reported", None, True, "gauge cpu was never reported, so it does not count"),
]


@pytest.mark.parametrize(
    ("sentence", "value", "met", "summary"), GAUGE_ROWS, ids=[row[0] for row in GAUGE_ROWS]
)
def test_a_gauge(sentence, value, met, summary):
    reported = {} if value is None else {"cpu": Gauge(name="cpu", value=value, reported_at=at("09:00"))}
    verdict = check(LoadConstraint(gauge="cpu", max=80), job_view_of(gauges=reported), at("10:00"))
    assert (verdict.met, verdict.blocked_on) == (met, None if met else "gauge:cpu")
    assert summary in (None, verdict.summary)


def test_a_load_that_names_nothing_is_a_bug():
    with pytest.raises(ValueError, match="without max_active_runs and without a gauge"):
        check(LoadConstraint(gauge="cpu"), job_view_of(), at("10:00"))

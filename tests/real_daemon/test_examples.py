"""What `tidegate test` says is what Dagster does: examples played on one real daemon and its code server.

Every example is judged by the code of `tidegate test`. Beyond that its whole timeline must be that of the
simulation, and every run must have been launched with the same partitions, arguments and manifest.

The test has in its hands the clock, when a dispatcher ticks, and when a run's program ends; see `location.py`
and `runs.py`. Some steps of examples cannot be the same in Dagster, and are played as what comes nearest:

    down            the dispatcher does not tick; the daemon is not killed here (`test_live.py` does)
    restart         the evaluation fails after its work, so the daemon does not get its requests
    fail_launch     the dispatcher refuses the request, as for a partition that Dagster does not have yet
    run, id         Dagster names its runs itself; the names are put in before anything is compared
    timeout         the dispatcher ends the run in Dagster; its thread ends after that, not by a signal
    run, twice      Dagster reports the end of a run once; the second report is nothing
    cron            fired by the dispatcher only: Dagster would fire its own schedules by the computer's clock
"""

from pathlib import Path

import pytest

from tests.effort import EFFORT, some
from tests.real_daemon.cases import ROOT, STORIES, Case, cases_of
from tests.real_daemon.stage import Played, differences, play_real, play_simulated
from tests.soak import EFFORT_OF_A_SOAK
from tests.tally import reach

pytestmark = [pytest.mark.dagster, pytest.mark.endurance]

HERE = Path(__file__).parent

KINDS = list(cases_of(HERE / "kinds.yaml"))
"""One for each kind of trigger and each `output_partition`."""

USUAL_KINDS = KINDS if EFFORT > 1 else [KINDS[index] for index in (0, 2, 3, 5, 6, 11, 12, 13, 14)]
"""Those whose runs differ; what a trigger decides is the engine's matter, which the simulation runs too.

The last one, of a program that a deployment brings, needs a second code server: `test_host.py` has one.
"""

ORIGINAL = list(cases_of(STORIES / "original_scenarios.yaml"))

OWN_STEPS = [ORIGINAL[index] for index in (1, 3, 5, 6, 8)]
"""Those with steps that KINDS has not: a changed argument, a refusal, an update, a delete, gauges."""

STORIES_OF_USERS = [list(cases_of(file)) for file in sorted(STORIES.glob("[01]*.yaml"))]

NAMED = [
    *(case for case in ORIGINAL if case not in OWN_STEPS),
    *(story[0] for story in STORIES_OF_USERS),
]
"""The other original scenarios, and one example for each story: a soak plays every one of them."""

NAMED_OF_AN_ORDINARY_RUN = 1

FURTHER = [
    *cases_of(ROOT / "schedules" / "flights.yaml"),
    *cases_of(STORIES / "life_cycle.yaml"),
    *cases_of(STORIES / "rules.yaml"),
    *cases_of(STORIES / "weeks.yaml"),
    *cases_of(STORIES / "two_apps.yaml", STORIES / "03_daily_feed.yaml"),
    *(case for story in reversed(STORIES_OF_USERS) for case in story[1:]),
]
"""All other examples; a soak of effort 90 plays nearly all of them."""


def named(effort: float) -> list[Case]:
    """The named ones that are played: one, and all of them in a soak."""
    return NAMED if effort >= EFFORT_OF_A_SOAK else some(NAMED, NAMED_OF_AN_ORDINARY_RUN, effort=effort)


CASES = [*USUAL_KINDS, *OWN_STEPS, *named(EFFORT), *some(FURTHER, 1)]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Played | BaseException]:
    return play_real(CASES, tmp_path_factory.mktemp("real"))


def test_a_soak_plays_every_original_scenario_and_every_story() -> None:
    assert len(STORIES_OF_USERS) == 11
    assert named(EFFORT_OF_A_SOAK) == NAMED


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.name}: {case.title}")
def test_dagster_does_what_the_example_says(case: Case, played: dict[str, Played | BaseException]) -> None:
    real = played[case.name]
    if isinstance(real, BaseException):
        raise real

    assert real.performance.failures == ()
    assert real.faults == ()
    assert differences(real, play_simulated(case)) == []
    reach("examples played on a real daemon")
    reach("runs launched by a real daemon", len(real.launches))

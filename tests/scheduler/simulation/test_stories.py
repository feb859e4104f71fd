"""The eleven user stories and the eight scenarios of the original design, played on the real engine.

Each scenario is played once undisturbed, and some by a scheduler that dies again and again. The judge is
judged too: whatever is changed in what a scenario expects, what was observed does not fit any more.
"""

import re
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

import msgspec
import pytest

from tests import tally
from tests.effort import pick
from tests.scheduler.simulation.mutations import judged_again, mutations
from tests.scheduler.simulation.stories import (
    FOLDER,
    ORIGINAL,
    compilation,
    played,
    reader_of,
    scenarios,
)
from tidegate.compiler.scenarios.model.scenario import ExpectLaunch, FailLaunch, Given, Restart, Scenario
from tidegate.compiler.scenarios.model.tasks import ExpectInstance, ExpectInstances
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.play import play

SCENARIOS = scenarios()
SCENARIOS_PER_STORY = 2
MUTATIONS_AT_LEAST = 500
QUICK_SHARE = 3
"""`make check` plays each third of them."""

LONG = {"cycles_periods: on the last day of a month the day that is still to come is waited for"}
"""Those that take seconds, which `make check` leaves to `make test`."""

SCENARIOS_OF_A_DEATH = SCENARIOS_CHANGED = 10
"""One of so many is played by a scheduler that dies, and is judged again; each in a soak."""


def what_came(moments: Iterable[Moment]) -> Counter[str]:
    """What was observed, without what was given, and in whatever order within an instant."""
    return Counter(str(moment) for moment in moments if moment.kind != "given")


def originals() -> dict[str, Scenario]:
    return {scenario.name: scenario for scenario in compilation().apps[ORIGINAL].scenarios}


def test_every_story_is_there_without_a_mistake_or_a_warning() -> None:
    assert not [each for each in compilation().diagnostics if each.severity != "note"]
    found = sorted(path.name[:2] for path in FOLDER.glob("[0-9]*.yaml"))
    assert found == [f"{number:02}" for number in range(1, 12)]
    others = {path.stem for path in FOLDER.glob("[a-z]*.yaml")}
    assert others == {
        ORIGINAL,
        "asset_checks",
        "batching_by_date",
        "business_dates",
        "business_days",
        "day_starts",
        "deadlines",
        "instants",
        "life_cycle",
        "repairs",
        "rules",
        "two_apps",
        "weeks",
        "withheld",
        "backfills",
    }


def test_every_story_says_who_wants_what_and_has_scenarios() -> None:
    for app in compilation().apps.values():
        assert len(app.scenarios) >= SCENARIOS_PER_STORY, app.file
        if Path(app.file).name[0].isdigit():
            text = Path(FOLDER / Path(app.file).name).read_text()
            assert re.search(r"^# Story \d+: .*\.$", text, re.MULTILINE), app.file
            assert "\n# Who:  " in text and "\n# How:  " in text, app.file


def test_every_schedule_of_a_story_is_expected_to_launch_somewhere() -> None:
    for app in compilation().apps.values():
        expected = [each.expected for scenario in app.scenarios for each in scenario.expect]
        launched = {each.schedule for each in expected if isinstance(each, ExpectLaunch)}
        schedules = {name for name, each in app.app.schedules.items() if each.task is None}
        assert schedules <= launched, app.file


def test_every_task_of_a_story_is_looked_at_somewhere() -> None:
    for app in compilation().apps.values():
        seen: set[str] = set()
        for expectation in (each for scenario in app.scenarios for each in scenario.expect):
            match expectation.expected:
                case ExpectLaunch(schedule=schedule):
                    seen.add(schedule)
                case ExpectInstance(task=task, upstream=upstream):
                    seen |= {task, *(upstream or {})}
                case ExpectInstances(task=task):
                    seen.add(task)
                case _:
                    pass
        tasks = {name for name, each in app.app.schedules.items() if each.task is not None}
        assert tasks <= seen, app.file


def test_the_eight_original_scenarios_are_there_under_their_numbers() -> None:
    assert sorted({name[:3] for name in originals()}) == [f"({number})" for number in range(1, 9)]


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if number % QUICK_SHARE or name in LONG else [])
        for number, name in enumerate(SCENARIOS)
    ],
)
def test_it_plays_as_it_says(name: str) -> None:
    found = played(name).performance
    assert found.failures == (), "\n".join(map(str, (*found.moments, *found.failures)))


@pytest.mark.slow
@pytest.mark.parametrize("name", pick(SCENARIOS, len(SCENARIOS) // SCENARIOS_CHANGED))
def test_with_anything_changed_in_what_it_expects_it_fails(name: str) -> None:
    found = played(name).judged
    broken = list(mutations(found.scenario))
    assert [what for what, scenario, left_out in broken if not judged_again(scenario, found, left_out)] == []
    tally.reach("wrong expectations reported", len(broken))


def test_there_is_something_to_change() -> None:
    count = sum(len(list(mutations(scenario))) for _, scenario in SCENARIOS.values())
    assert count >= MUTATIONS_AT_LEAST
    assert SCENARIOS.keys() >= LONG


@pytest.mark.endurance  # thousands of deaths
@pytest.mark.parametrize("name", pick(SCENARIOS, len(SCENARIOS) // SCENARIOS_OF_A_DEATH))
def test_a_scheduler_that_dies_at_every_instant_launches_the_same(name: str) -> None:
    app, scenario = SCENARIOS[name]
    undisturbed = played(name).performance.moments
    deaths = [
        Given(when=when + later, action=Restart(), at=scenario.at)
        for when in sorted({moment.when for moment in undisturbed})
        for later in (timedelta(0), timedelta(milliseconds=1))
        if when + later <= scenario.until
    ]
    dying = msgspec.structs.replace(scenario, given=(*scenario.given, *deaths))
    disturbed = play(dying, app, read_file=reader_of(app))
    assert disturbed.failures == ()
    # Where launches fail, the pauses between them count from another one.
    if not any(isinstance(given.action, FailLaunch) for given in scenario.given):
        assert what_came(disturbed.moments) == what_came(undisturbed)
    tally.reach("restarts in stories", len(deaths))

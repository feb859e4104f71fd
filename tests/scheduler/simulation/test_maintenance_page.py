"""docs/maintenance.md: every block compiles, its examples hold, and its tables are those of the code."""

import re
import textwrap
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tidegate.compiler.compile import compile_files
from tidegate.compiler.scenarios.model.scenario import Scenario
from tidegate.domain.maintenance.measures import DAY, HEALTHY
from tidegate.domain.model import DebtWeights, HealthRules
from tidegate.scheduler.decision.maintenance.health import debt
from tidegate.scheduler.model.maintenance import Health, TableHistory
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.simulation.play import play

PAGE = (Path(__file__).parents[3] / "docs/maintenance.md").read_text("utf-8")
BLOCKS = [
    textwrap.dedent(block) for block in re.findall(r"^ *```yaml\n(.*?)^ *```", PAGE, re.DOTALL | re.MULTILINE)
]
NOW = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_compiles_and_its_examples_hold(block: str) -> None:
    found = compile_files({"a.yaml": block.encode()})
    assert not [each.summary for each in found.diagnostics if each.severity != "note"]
    (app,) = found.apps.values()
    for scenario in app.scenarios:
        assert play(scenario, app).failures == (), scenario.name


def test_without_the_failure_rate_three_failures_in_a_row_are_160() -> None:
    (block,) = (each for each in BLOCKS if "examples:" in each)
    text = block.replace("policies:", "maintenance: {debt: {failure_rate: 0}}\npolicies:").replace(
        "score: 260, parts: {issues: 100, failure_rate: 100, failures_in_a_row: 60}",
        "score: 160, parts: {issues: 100, failures_in_a_row: 60}",
    )
    (app,) = compile_files({"a.yaml": text.encode()}).apps.values()
    scenarios: tuple[Scenario, ...] = app.scenarios
    assert play(scenarios[0], app).failures == ()


@pytest.mark.parametrize(
    ("words", "values", "score"),
    [
        ("60 % small files", {"small_file_percent": 60}, 100),
        (
            "30 % small files and 120 snapshots, the newest one 3 days old",
            {"small_file_percent": 30, "snapshots": 120, "newest_snapshot_age": 3 * DAY},
            101.5,
        ),
        ("without data files", {"files": 0}, 10),
        (
            "the newest snapshot is 10 days old, and the oldest too",
            {"newest_snapshot_age": 10 * DAY, "oldest_snapshot_age": 10 * DAY},
            105,
        ),
    ],
)
def test_the_lines_of_the_table_of_debts(words: str, values: dict[str, float], score: float) -> None:
    health = Health(measured_at=NOW, values={**HEALTHY, **values})
    assert debt(health, TableHistory(), HealthRules(), DebtWeights(), failures=True).score == score
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {words} |"))
    assert line.endswith(f" | {score} |")


def test_the_reasons_are_those_of_the_code_in_their_order() -> None:
    _, _, section = PAGE.partition("## Reasons\n")
    listed = re.findall(r"^\| `([MW]-[A-Z]+)` \|", section, re.MULTILINE)
    assert listed == [*(str(each) for each in Reason if each.startswith("M-")), "W-CONCURRENCY"]


def test_every_command_of_the_group_is_listed() -> None:
    from tidegate.cli.maintenance.group import app

    for command in app.registered_commands:
        assert f"tidegate maintenance {command.name}" in PAGE

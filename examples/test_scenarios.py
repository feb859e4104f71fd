"""The `examples:` of a project's YAML as tests of pytest, each with its own line in the report.

Put it into the tests of a project and run `pytest`; `SCHEDULES` names other files or folders than the
project's own. The scenarios are played once, by `tidegate test`, in a second or two.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

SCHEDULES = os.environ.get("SCHEDULES", "").split()


def play_scenarios() -> list[dict[str, Any]]:
    """Play all scenarios, and return what `tidegate test --format json` says about each."""
    command = [sys.executable, "-m", "tidegate.cli.main", "test", "--format", "json", *SCHEDULES]
    played = subprocess.run(command, capture_output=True, text=True, check=False)
    assert played.stdout.startswith("{"), played.stdout + played.stderr
    answer = json.loads(played.stdout)
    # Where the YAML has mistakes, there are diagnostics in place of scenarios.
    assert "scenarios" in answer, played.stdout
    return answer["scenarios"]


@pytest.mark.parametrize("scenario", play_scenarios(), ids=lambda each: f"{each['app']}: {each['name']}")
def test_scenario(scenario: dict[str, Any]) -> None:
    differences = [
        f"{each['at']}: expected {each['expected']}, observed {each['observed']}"
        for each in scenario["failures"]
    ]
    assert scenario["ok"], "\n".join(differences)

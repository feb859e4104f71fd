"""The workflows of the code host call what exists: targets of the Makefile and commands of Tidegate."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tidegate.cli.commands import COMMANDS

ROOT = Path(__file__).parent.parent
TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def lines(workflow: dict[str, Any]) -> list[str]:
    """The lines of shell that its steps run."""
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    return [line for step in steps for line in step.get("run", "").splitlines()]


@pytest.mark.parametrize("name", ["wheel"])
def test_a_workflow_calls_what_exists(name: str) -> None:
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text("utf-8"))
    called = [line.split() for line in lines(workflow)]
    made = {words[1] for words in called if words[0] == "make"}
    asked = {words[1] for words in called if words[0] == "tidegate" and not words[1].startswith("-")}

    assert made and made <= TARGETS
    assert asked and asked <= COMMANDS.keys()

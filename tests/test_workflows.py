"""The workflows of the code host call what exists: targets of the Makefile and commands of Tidegate."""

import re
import subprocess
from importlib.metadata import version
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


def test_a_release_has_the_wheel_that_was_tested_and_the_image_of_it() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text("utf-8"))["jobs"]
    said = {name: "\n".join(step.get("run", "") for step in job["steps"]) for name, job in jobs.items()}

    assert "make wheel" in said["wheel"] and jobs["index"]["needs"] == jobs["image"]["needs"] == "wheel"
    assert "docker build -f deploy/Dockerfile" in said["image"]
    (name,) = (line for line in said["image"].splitlines() if "GITHUB_ENV" in line)
    variables = {
        "GITHUB_REPOSITORY": "Acme/Tidegate",
        "GITHUB_REF_NAME": "v1.2.3",
        "GITHUB_ENV": "/dev/stdout",
    }
    named = subprocess.run(["bash", "-c", name], env=variables, capture_output=True, text=True, check=True)
    assert named.stdout == "IMAGE=ghcr.io/acme/tidegate:1.2.3\n", "a code host refuses capital letters"
    (check,) = (line for line in said["wheel"].splitlines() if line.startswith("grep"))
    for tag, exit_code in ((f"v{version('tidegate')}", 0), ("v9.9.9", 1)):
        variables = {"GITHUB_REF_NAME": tag}
        assert subprocess.run(["bash", "-c", check], cwd=ROOT, env=variables).returncode == exit_code


@pytest.mark.parametrize("name", ["wheel"])
def test_a_workflow_calls_what_exists(name: str) -> None:
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text("utf-8"))
    called = [line.split() for line in lines(workflow)]
    made = {words[1] for words in called if words[0] == "make"}
    asked = {words[1] for words in called if words[0] == "tidegate" and not words[1].startswith("-")}

    assert made and made <= TARGETS
    assert asked and asked <= COMMANDS.keys()

"""`docs/existing-dagster.md`, followed by the letter: from a project of others to a schedule over its job.

By `make wheel`, which the workflow of each push calls, and in a soak.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.installed.environment import PIP, ROOT, clean_variables, lend_dependencies
from tests.installed.guide import Reader, steps
from tidegate.processes.code_servers import free_port

pytestmark = [pytest.mark.dagster, pytest.mark.endurance, pytest.mark.soak, pytest.mark.timeout(1200)]

PAGE = ROOT / "docs" / "existing-dagster.md"
RUNS = (
    "import json; from dagster import DagsterInstance; i = DagsterInstance.from_config('.tidegate/dagster');"
    "print(json.dumps([[r.job_name, r.status.value, r.tags['tidegate/attempt']] for r in i.get_runs()]))"
)


def test_the_page_leads_to_a_second_attempt_that_succeeds(wheel: Path, tmp_path: Path) -> None:
    port = str(free_port())
    # Another port, since 3000 may be in use here, and a window that is closed at any time of a test.
    page = (
        PAGE.read_text()
        .replace("3000", port)
        .replace("\ntidegate dev\n", f"\ntidegate dev --port {port}\n")
        .replace('{from: "02:00", to: "05:00"}', closed_window())
    )
    assert f"--port {port}" in page and closed_window() in page
    from_the_wheel = {**PIP, "PIP_FIND_LINKS": str(wheel.parent)}
    install, *others = steps(page)

    with Reader(tmp_path, clean_variables(**from_the_wheel)) as reader:
        reader.follow(install)
        lend_dependencies(tmp_path / "repository" / ".venv")
        for step in others:
            reader.follow(step)
        runs = reader.run(f'python -W ignore -c "{RUNS}"')

    first, *_, last = reversed(json.loads(runs.splitlines()[-1]))
    assert first == ["nightly_report", "FAILURE", "1"]
    assert last[:2] == ["nightly_report", "SUCCESS"] and int(last[2]) > 1


def closed_window() -> str:
    """Return a window that opens in some hours."""
    begin = datetime.now(UTC).hour + 6
    return f'{{from: "{begin % 24:02}:00", to: "{(begin + 1) % 24:02}:00"}}'

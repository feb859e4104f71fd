"""`docs/getting-started.md`, followed by the letter, from a wheel to the first published table.

By `make wheel`, which the workflow of each push calls, and in a soak.
"""

import re
from pathlib import Path

import pytest

from tests.installed.environment import PIP, ROOT, clean_variables, lend_dependencies
from tests.installed.guide import Reader, Step, missing, steps
from tidegate.processes.code_servers import free_port

pytestmark = [pytest.mark.spark, pytest.mark.dagster, pytest.mark.endurance, pytest.mark.timeout(1200)]

PAGE = ROOT / "docs" / "getting-started.md"


def test_a_page_is_read_as_steps() -> None:
    page = "Do:\n\n```sh\na\nb\n```\n\nIt prints\n\n```text\nx … y\n```\n\n```sh background\nc\n```\n"

    assert list(steps(page)) == [
        Step(commands="a\nb\n", background=False, expected=("x … y",)),
        Step(commands="c\n", background=True, expected=()),
    ]
    assert missing("x  1 y\n", ("x … y", "z")) == ["z"]


@pytest.mark.soak
def test_the_page_leads_to_a_published_table(wheel: Path, tmp_path: Path) -> None:
    port = str(free_port())
    # Another port, since 3000 may be in use here; the commands are otherwise those of the page.
    page = (
        PAGE.read_text().replace("3000", port).replace("\ntidegate dev\n", f"\ntidegate dev --port {port}\n")
    )
    assert f"--port {port}" in page
    from_the_wheel = {**PIP, "PIP_FIND_LINKS": str(wheel.parent)}
    install, *others = steps(page)
    said: list[str] = []

    with Reader(tmp_path, clean_variables(**from_the_wheel)) as reader:
        reader.follow(install)
        lend_dependencies(tmp_path / ".venv")
        said.extend(reader.follow(step) for step in others)

    assert len(re.findall(r"^\|2025-06-01\|", said[-1], re.MULTILINE)) == 3

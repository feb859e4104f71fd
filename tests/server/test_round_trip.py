"""Every app of the repository over HTTP: deployed as JSON, read, and put again."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.server.sales import deployed
from tests.server.serving import NS, Served
from tidegate.compiler.reader.compose import read
from tidegate.compiler.reader.node import plain

pytestmark = [pytest.mark.store]

SCHEDULES = Path(__file__).parents[2] / "schedules"
FILES = sorted(SCHEDULES.rglob("*.yaml"))
APPS = {re.findall(r"^app: (\w+)", file.read_text(), re.MULTILINE)[0]: file for file in FILES}


@cache
def document(file: Path) -> dict[str, Any]:
    """The app of a file as builtin values."""
    root, findings = read(file.name, file.read_bytes())
    assert root is not None, findings.diagnostics()
    found: dict[str, Any] = plain(root)
    return found


def needed(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The other apps of the repository that an app names."""
    named = {app for app in APPS if f"'{app}/" in str(spec)} - {spec["app"]}
    return [document(APPS[app]) for app in sorted(named)]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_an_app_comes_back_as_it_was_sent_and_put_again_changes_nothing(file: Path, server: Served):
    spec = document(file)
    for other in needed(spec):
        deployed(server, other)

    first = deployed(server, spec)
    found = server.client.get(f"{NS}/apps/{spec['app']}").json()
    again = deployed(server, found["spec"])

    assert found["spec"] == spec
    changes = {"created": [], "updated": [], "deleted": [], "discarded_jobs": 0}
    assert again == {**changes, "revision": first["revision"], "unchanged": first["created"]}

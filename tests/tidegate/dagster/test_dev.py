"""`dagster dev` in the folder of a new project: before anything is deployed, and after that."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.dagster_dev import dagster_dev
from tidegate.cli.main import application
from tidegate.dagster_defs.deployed.names import NOTHING_DEPLOYED, RECOVERY
from tidegate.dagster_defs.deployed.plan_state import NOTHING_DEPLOYED_TEXT
from tidegate.processes.graphql import ask, reload_location
from tidegate.project.create import create_project
from tidegate.project.environment import LOCATION_NAME

pytestmark = pytest.mark.dagster

ELSEWHERE = ("DAGSTER_HOME", "TIDEGATE_PROJECT", "TIDEGATE_STORE_URL")

QUESTION = """
{
  shouldShowNux
  workspaceOrError {
    __typename
    ... on Workspace {
      locationEntries {
        name
        loadStatus
        locationOrLoadError {
          __typename
          ... on PythonError { message }
          ... on RepositoryLocation {
            repositories {
              assetNodes { assetKey { path } }
              sensors { name description }
              schedules { name }
            }
          }
        }
      }
    }
  }
}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a new project, which is the working folder."""
    folder = tmp_path / "shop"
    create_project(folder, "tidegate==1.0", iceberg=False)
    for name in ELSEWHERE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def url(project: Path) -> Iterator[str]:
    """The address of the UI of `dagster dev`, once it answers."""
    with dagster_dev(project) as found:
        yield found


def location(url: str) -> dict[str, Any]:
    """The only repository of the only location, which has loaded without an error."""
    (entry,) = ask(url, QUESTION, {})["workspaceOrError"]["locationEntries"]
    assert (entry["name"], entry["loadStatus"]) == (LOCATION_NAME, "LOADED")
    assert entry["locationOrLoadError"]["__typename"] == "RepositoryLocation", entry
    (repository,) = entry["locationOrLoadError"]["repositories"]
    return repository


def test_it_loads_before_and_after_the_first_deployment(url: str) -> None:
    empty = location(url)

    assert empty["assetNodes"] == []
    assert empty["sensors"] == [{"name": NOTHING_DEPLOYED, "description": NOTHING_DEPLOYED_TEXT}]
    assert not ask(url, QUESTION, {})["shouldShowNux"]

    assert CliRunner().invoke(application, ["deploy"]).exit_code == 0
    assert reload_location(url, LOCATION_NAME) is None
    loaded = location(url)

    assert {tuple(node["assetKey"]["path"]) for node in loaded["assetNodes"]} == {
        ("shop", "raw_orders"),
        ("shop", "daily_sales"),
    }
    assert [sensor["name"] for sensor in loaded["sensors"]] == ["tidegate_dispatcher"]
    assert [schedule["name"] for schedule in loaded["schedules"]] == [RECOVERY]

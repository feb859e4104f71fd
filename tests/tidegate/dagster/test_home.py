"""DAGSTER_HOME: the project's own settings go there, or those for development."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from tidegate.processes.home import DEVELOPMENT, prepare_home, site_of
from tidegate.project.environment import LOCATION_NAME, MODULE, STARTER
from tidegate.project.settings.settings import Settings, load_settings

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "tidegate.toml").touch()
    return load_settings(tmp_path)


def test_the_built_in_settings_are_those_of_the_repository() -> None:
    assert (REPOSITORY / "dagster.yaml").read_text() == DEVELOPMENT


def test_without_own_settings_those_for_development_hold(settings: Settings) -> None:
    home = prepare_home(settings)

    assert home == settings.project / ".tidegate" / "dagster"
    assert (home / "dagster.yaml").read_text() == DEVELOPMENT


def test_the_projects_own_settings_are_copied_whenever_they_change(settings: Settings) -> None:
    own = settings.project / "dagster.yaml"
    for text in ("telemetry: {enabled: false}\n", "telemetry: {enabled: true}\n"):
        own.write_text(text)

        assert (prepare_home(settings) / "dagster.yaml").read_text() == text


def test_projects_that_share_a_home_keep_the_settings_that_one_of_them_has(
    settings: Settings, tmp_path: Path
) -> None:
    other = replace(settings, project=tmp_path / "other", name="other")
    other.project.mkdir()
    own = settings.project / "dagster.yaml"
    own.write_text("telemetry: {enabled: true}\n")
    home = prepare_home(settings)
    assert prepare_home(other) == home
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: true}\n"
    own.unlink()
    prepare_home(settings)
    assert (home / "dagster.yaml").read_text() == DEVELOPMENT
    (other.project / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    prepare_home(other)
    prepare_home(settings)
    assert (home / "dagster.yaml").read_text() == "telemetry: {enabled: false}\n"


def test_a_site_has_ports_of_its_own_and_names_the_project(settings: Settings) -> None:
    site = site_of(settings)
    site.prepare()

    workspace = yaml.safe_load(site.workspace.read_text())
    assert workspace["load_from"][0]["grpc_server"]["port"] == site.code_port != site.web_port
    assert site.process_environment()["TIDEGATE_PROJECT"] == str(settings.project)
    assert site.process_environment()["DAGSTER_HOME"] == str(site.home)
    assert site_of(settings, 3000).url == "http://127.0.0.1:3000"


@pytest.mark.dagster
@pytest.mark.parametrize("name", ["dagster.yaml", "deploy/dagster.production.yaml"])
def test_dagster_accepts_the_settings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dagster._core.instance.config import dagster_instance_config

    monkeypatch.setenv("TIDEGATE_DAGSTER_POSTGRES_URL", "postgresql+psycopg2://u@h/d")
    (tmp_path / "dagster.yaml").write_text((REPOSITORY / name).read_text())

    config, _ = dagster_instance_config(str(tmp_path))

    assert config["sensors"]["use_threads"] is True
    assert config["run_monitoring"]["enabled"] is True


def test_the_workspace_of_the_repository_is_that_of_a_new_project() -> None:
    text = (REPOSITORY / "workspace.yaml").read_text()

    assert text == (STARTER / "workspace.yaml").read_text()
    (location,) = yaml.safe_load(text)["load_from"]
    assert location["python_module"] == {"module_name": MODULE, "location_name": LOCATION_NAME}


def test_the_repository_names_the_same_location_to_dagsters_commands() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["dagster"]

    assert settings == {"module_name": MODULE, "code_location_name": LOCATION_NAME}


def test_the_workspace_for_production_names_a_code_server() -> None:
    workspace = yaml.safe_load((REPOSITORY / "deploy/workspace.production.yaml").read_text())

    assert workspace["load_from"][0]["grpc_server"]["location_name"] == LOCATION_NAME


def test_the_first_visit_of_the_ui_begins_without_a_dialog() -> None:
    assert yaml.safe_load(DEVELOPMENT)["nux"] == {"enabled": False}

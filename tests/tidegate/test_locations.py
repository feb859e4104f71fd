"""The code locations of a project: `tidegate dev` serves them beside ours, `host` and `serve` take them."""

import sys
from pathlib import Path

import pytest
import yaml

from tidegate.domain.error import UserError
from tidegate.processes.locations import target_of, with_locations
from tidegate.processes.site import Site
from tidegate.project.location import location_of
from tidegate.project.settings.settings import SETTINGS_FILE, load_settings
from tidegate.scheduler.store.error import StoreMissing
from tidegate.scheduler.store.sql.open import open_sql_store

pytestmark = pytest.mark.dagster

OURS = "{python_module: {module_name: tidegate.definitions, location_name: tidegate}}"
MODULES = (
    '[tool.dagster]\nmodules = [{type = "module", name = "acme"},'
    ' {type = "module", name = "tidegate.definitions"}]'
)


def site_with(folder: Path, file: str, text: str) -> Site:
    (folder / file).write_text(text)
    return with_locations(Site(project=folder, home=folder / "home", logs=folder / "logs"))


@pytest.mark.parametrize(
    ("file", "text", "name", "found"),
    [
        (
            "workspace.yaml",
            f"load_from:\n  - {OURS}\n  - python_module: {{module_name: acme.all, location_name: acme}}",
            "tidegate",
            {"acme": "-m acme.all"},
        ),
        (
            "workspace.yaml",
            f"load_from:\n  - {OURS}\n  - python_file: {{relative_path: acme.py, working_directory: src}}",
            "tidegate",
            {"acme.py": "-f PROJECT/acme.py -d PROJECT/src"},
        ),
        (
            "workspace.yaml",
            "load_from:\n  - grpc_server: {host: acme, port: 4000, location_name: acme}\n"
            "  - grpc_server: {host: here, port: 4266, location_name: tidegate}",
            "tidegate",
            {"acme": ""},
        ),
        ("pyproject.toml", MODULES, "tidegate.definitions", {"acme": "-m acme -d PROJECT"}),
        (
            "pyproject.toml",
            '[tool.dagster]\nmodule_name = "acme.definitions"\ncode_location_name = "acme"',
            None,
            {"acme": "-m acme.definitions -d PROJECT"},
        ),
        (
            "pyproject.toml",
            '[tool.dg.project]\nroot_module = "acme"',
            None,
            {"acme.definitions": "-m acme.definitions -d PROJECT"},
        ),
        ("workspace.yaml", f"load_from: [{OURS}]", "tidegate", {}),
        ("pyproject.toml", "[project]\nname = 'acme'", "tidegate", {}),
        ("README.md", "", "tidegate", {}),
    ],
)
def test_each_location_has_a_server_and_keeps_its_name(
    tmp_path: Path, file: str, text: str, name: str | None, found: dict[str, str]
) -> None:
    site = site_with(tmp_path, file, text)

    pointers = {
        each.name: " ".join(each.command[5:]).replace(str(tmp_path), "PROJECT") for each in site.others
    }
    assert pointers == found
    assert {each.command[:1] for each in site.others} <= {(sys.executable,), ()}
    assert (site.location_name if site.listed or not found else None) == name
    assert (target_of(tmp_path) is None) == (file == "README.md" or "[project]" in text)


def test_the_workspace_of_dev_has_the_address_of_each(tmp_path: Path) -> None:
    site = site_with(tmp_path, "pyproject.toml", MODULES)
    site.prepare()

    entries = [each["grpc_server"] for each in yaml.safe_load(site.workspace.read_text())["load_from"]]

    assert [each["location_name"] for each in entries] == ["tidegate.definitions", "acme"]
    assert entries[0]["port"] == site.code_port != entries[1]["port"]


@pytest.mark.parametrize(
    ("file", "text"), [("workspace.yaml", "load_from: ["), ("workspace.yaml", "{}"), ("pyproject.toml", "[")]
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, file: str, text: str) -> None:
    with pytest.raises(UserError, match=f"{file} cannot be read"):
        site_with(tmp_path, file, text)


def test_a_process_opens_the_store_once_and_again_where_its_file_was_replaced(tmp_path: Path) -> None:
    (tmp_path / SETTINGS_FILE).write_text('[project]\nname = "acme"\n[store]\nurl = "sqlite:///store.db"\n')
    location, file = location_of(load_settings(tmp_path)), tmp_path / "store.db"
    with pytest.raises(StoreMissing):
        location.open_store()

    open_sql_store(f"sqlite:///{file}").close()
    first = location.open_store()
    assert location.open_store() is first

    open_sql_store(f"sqlite:///{tmp_path}/restored.db").close()
    (tmp_path / "restored.db").replace(file)
    assert location.open_store() is not first

"""`dg` on a project of others: our component is found, scaffolded and checked, and so is the YAML.

By `make wheel`, which the workflow of each push calls, and in a soak.
"""

from pathlib import Path

import pytest

from tests.installed.environment import Installed

pytestmark = [pytest.mark.dagster, pytest.mark.soak]

PROJECT = {
    "pyproject.toml": """\
[project]
name = "acme"
version = "1"
dependencies = ["dagster", "tidegate"]

[tool.dg]
directory_type = "project"

[tool.dg.project]
root_module = "acme"
""",
    "src/acme/__init__.py": "",
    "src/acme/definitions.py": """\
from pathlib import Path
from dagster import definitions, load_from_defs_folder

@definitions
def defs():
    return load_from_defs_folder(path_within_project=Path(__file__).parent)
""",
    "src/acme/defs/__init__.py": "",
    "src/acme/defs/nightly.py": """\
import dagster as dg

@dg.op
def report() -> None: ...

@dg.job
def nightly() -> None:
    report()
""",
    "tidegate.toml": '[project]\nname = "core"\n',
    "schedules/core.yaml": """\
app: core
datasets:
  orders: {format: parquet}
programs:
  report: {run: programs.report, writes: [orders]}
schedules:
  nightly: {program: report, trigger: {cron: "0 6 * * *"}, status: active}
""",
    "programs/__init__.py": "def report(spark, inputs, params): ...\n",
}
COMPONENT = "tidegate.components.TidegateProject"
DEFS = Path("src/acme/defs/tidegate/defs.yaml")
SCAFFOLDED = f"type: {COMPONENT}\n\nattributes: {{}}\n"


class Acme:
    """A project of dg, and the command in the environment of the wheel."""

    def __init__(self, folder: Path, installed: Installed) -> None:
        self.folder, self._installed = folder, installed
        for name, text in PROJECT.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)

    def run(self, *command: str, exit_code: int = 0) -> str:
        variables = {
            "PYTHONPATH": str(self.folder / "src"),
            "PYTHONWARNINGS": "ignore",
            "PATH": f"{self._installed.folder / 'bin'}:/usr/bin:/bin",
            "COLUMNS": "160",
        }
        return self._installed.run(*command, cwd=self.folder, exit_code=exit_code, more=variables)

    def dg(self, *arguments: str, exit_code: int = 0) -> str:
        return self.run("python", "-m", "dagster_dg_cli.cli", *arguments, exit_code=exit_code)


@pytest.fixture
def acme(tmp_path: Path, installed: Installed) -> Acme:
    return Acme(tmp_path, installed)


def test_dg_lists_and_scaffolds_the_component_and_checks_its_attributes(acme: Acme) -> None:
    assert COMPONENT in acme.dg("list", "components", "--json")

    acme.dg("scaffold", "defs", COMPONENT, "tidegate")

    assert (acme.folder / DEFS).read_text() == SCAFFOLDED
    acme.dg("check", "yaml")
    (acme.folder / DEFS).write_text(
        f"type: {COMPONENT}\n\nattributes:\n  project: ../../../..\n  colour: red\n"
    )
    found = acme.dg("check", "yaml", exit_code=1)
    assert "defs.yaml:5" in found and "'colour' was unexpected" in found


def test_dg_checks_the_yaml_of_the_project_and_shows_what_is_deployed(acme: Acme) -> None:
    (acme.folder / DEFS).parent.mkdir()
    (acme.folder / DEFS).write_text(SCAFFOLDED)
    acme.run("tidegate", "deploy")

    acme.dg("check", "defs")
    app = acme.folder / "schedules/core.yaml"
    app.write_text(app.read_text().replace("status", "state"))
    failed = acme.dg("check", "defs", exit_code=1)
    assert "schedules/core.yaml:7:60: error[S101]: a schedule has no such key" in failed
    # What is deployed is loaded meanwhile: a mistake in the YAML takes no location away.
    found = acme.dg("list", "defs", "--json")
    assert '"tidegate_nightly"' in found and '"nightly"' in found

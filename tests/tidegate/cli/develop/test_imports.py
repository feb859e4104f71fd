"""Programs are imported before they are deployed, in a child process."""

import pytest

from tests.tidegate.project import Project

pytestmark = pytest.mark.slow  # whole commands

PROGRAM = "def run(spark, inputs, params):\n    return inputs\n"


@pytest.fixture
def imports_of_programs() -> None:
    """The programs are imported here, other than in the other tests of the command line."""


@pytest.mark.slow
def test_lint_imports_on_request_and_plan_and_deploy_by_default(project: Project) -> None:
    project.run("lint")
    printed = project.run("lint", "--imports", exit_code=1)
    assert "sales.yaml:9:22: error[N310]: program programs.make_report: no such module" in printed
    settings = project.folder / "tidegate.toml"
    found = project.json("plan", exit_code=1)
    assert [(each["code"], each["line"]) for each in found["diagnostics"]] == [("N310", 9)]
    settings.write_text("[deploy]\ncheck_imports = false\n")
    assert "sales" in project.run("plan", exit_code=2)
    settings.write_text("")
    project.run("deploy", exit_code=1)
    project.run("plan", "--no-imports", exit_code=2)
    # given a module of the project, which is not loaded into this process
    (project.folder / "programs").mkdir()
    (project.folder / "programs" / "make_report.py").write_text(PROGRAM.replace(", params", ""))
    assert "N312" in project.json("deploy", exit_code=1)["diagnostics"][0]["code"]
    (project.folder / "programs" / "make_report.py").write_text(PROGRAM)
    project.run("deploy")
    (project.folder / "programs" / "make_report.py").write_text("import nowhere_installed\n")
    # A warning: the machine of the runs may have what this one lacks.
    project.run("plan")

"""`tidegate fmt`: what it writes, what `--check` says, and what it leaves alone."""

from tests.tidegate.project import Project

MESSY = """\
programs: {}
# The app.
app: sales
"""

TIDY = """\
# The app.
app: sales
programs: {}
"""


def test_files_are_formatted_and_stay_so(project: Project) -> None:
    project.write("sales", MESSY)
    file = project.folder / "schedules/sales.yaml"
    file.chmod(0o640)

    assert project.run("fmt", "--check", exit_code=1) == "schedules/sales.yaml: would be formatted\n"
    assert file.read_text() == MESSY
    assert project.run("fmt") == "schedules/sales.yaml: formatted\n"
    assert (file.read_text(), file.stat().st_mode & 0o777) == (TIDY, 0o640)
    assert project.run("fmt", "--check") == "ok: 1 files are formatted\n"
    assert [path.name for path in file.parent.iterdir()] == ["sales.yaml"]


def test_a_file_that_is_not_yaml_is_left_alone_and_the_others_are_formatted(project: Project) -> None:
    project.write("sales", MESSY)
    project.write("broken", "app: [\n")

    printed = project.run("fmt", exit_code=1)

    assert "error[R106]" in printed and "schedules/sales.yaml: formatted" in printed
    assert (project.folder / "schedules/broken.yaml").read_text() == "app: [\n"


def test_the_app_of_a_new_project_is_formatted(project: Project) -> None:
    project.run("init", "new")

    assert project.run("fmt", "--check", "new/schedules") == "ok: 1 files are formatted\n"

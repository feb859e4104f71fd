"""`tidegate diff`: the plan by another word, and two git revisions of the YAML compared without a store."""

import subprocess
from pathlib import Path

import pytest

from tests.tidegate.project import Project, sales_as

pytestmark = pytest.mark.slow  # whole commands


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def committed(project: Project) -> Project:
    """A project with two commits: `first`, and one whose schedule waits for three partitions."""
    git(project.folder, "init", "-q")
    git(project.folder, "add", "-A")
    git(project.folder, "commit", "-qm", "one")
    git(project.folder, "tag", "first")
    project.edit("count: 2", "count: 3")
    git(project.folder, "commit", "-qam", "two")
    return project


def test_without_a_revision_it_is_the_plan(project: Project) -> None:
    assert project.run("diff", exit_code=2) == project.run("plan", exit_code=2)
    project.run("deploy")
    assert project.run("diff").startswith("No changes.")


def test_a_revision_is_compared_with_the_folder_and_no_store_is_made(committed: Project) -> None:
    assert committed.run("diff", "HEAD").startswith("No changes.")
    committed.edit("count: 3", "count: 4")
    printed = committed.run("diff", "HEAD", exit_code=2)
    assert "~ schedule report_daily\n      trigger.count: 3 -> 4\n" in printed
    assert "->" not in printed.replace("3 -> 4", "")
    assert not (committed.folder / ".tidegate").exists()


def test_two_revisions_are_compared_whatever_the_folder_holds(committed: Project) -> None:
    committed.write("sales", "app: [")
    assert "trigger.count: 2 -> 3" in committed.run("diff", "first", "HEAD", exit_code=2)
    assert "trigger.count: 3 -> 2" in committed.run("diff", "HEAD", "first", exit_code=2)
    changed = committed.json("diff", "first", "HEAD", exit_code=2)["apps"][0]["schedules"]
    assert [each["action"] for each in changed] == ["unchanged", "unchanged", "replace"]


def test_another_kind_of_trigger_is_shown_as_yaml(committed: Project) -> None:
    committed.edit("{partitions: {dataset: orders, count: 3}}", "{cron: '@daily'}")
    printed = committed.run("diff", "HEAD", exit_code=2)
    assert "        - partitions: {dataset: orders, count: 3}\n        + cron: '@daily'\n" in printed


def test_each_revision_says_which_files_are_deployed(committed: Project) -> None:
    (committed.folder / "tidegate.toml").write_text('[project]\nundeployed = ["schedules/drafts"]\n')
    (committed.folder / "schedules/drafts").mkdir()
    for name in ("drafts/later", ".hidden", "other"):
        committed.write(name, sales_as(name.split("/")[-1].strip(".")))
    git(committed.folder, "add", "-A")
    git(committed.folder, "commit", "-qm", "three")
    printed = committed.run("diff", "first", "HEAD", exit_code=2)
    assert "+ app other" in printed and "later" not in printed and "hidden" not in printed
    assert "other" not in committed.run("diff", "first", "HEAD", "--app", "sales", exit_code=2)
    assert 'did you mean "other"?' in committed.refused("diff", "first", "HEAD", "--app", "othr").hint


def test_a_project_in_a_folder_of_a_repository_is_found(
    committed: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (committed.folder / "tidegate.toml").rename(inner / "tidegate.toml")
    (inner / "tidegate.toml").write_text('[project]\nschedules = "../schedules"\n')
    git(committed.folder, "add", "-A")
    git(committed.folder, "commit", "-qm", "moved")
    monkeypatch.setenv("TIDEGATE_PROJECT", str(inner))
    assert committed.run("diff", "HEAD").startswith("No changes.")
    committed.edit("count: 3", "count: 4")
    assert "3 -> 4" in committed.run("diff", "HEAD", exit_code=2)


@pytest.mark.parametrize("revision", ["nope", "--all", "first:schedules"])
def test_an_unknown_revision_is_refused(committed: Project, revision: str) -> None:
    error = committed.refused("diff", "--", revision)
    assert error.message == f'git has no revision "{revision}"'
    assert "HEAD~1" in error.hint


def test_without_a_repository_without_git_and_without_the_project_it_says_so(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "is not in a git repository" in project.refused("diff", "HEAD").message
    git(project.folder, "init", "-q")
    git(project.folder, "commit", "-qm", "empty", "--allow-empty")
    assert "the revision HEAD has no tidegate.toml" in project.refused("diff", "HEAD").message
    git(project.folder, "add", "tidegate.toml")
    git(project.folder, "commit", "-qm", "settings")
    assert (
        'the revision HEAD has no YAML in the folder "schedules"' in project.refused("diff", "HEAD").message
    )
    monkeypatch.setenv("PATH", "")
    assert project.refused("diff", "HEAD").message == "there is no git on the PATH"


def test_mistakes_of_a_revision_are_shown_with_its_name(committed: Project) -> None:
    committed.edit("dataset: orders, count", "dataset: ordres, count")
    git(committed.folder, "commit", "-qam", "wrong")
    result = committed._result("diff", "HEAD", "first")
    assert result.exit_code == 1
    assert "HEAD:schedules/sales.yaml:14:" in result.stderr


def test_options_of_a_deployment_are_wrong_usage_between_revisions(committed: Project) -> None:
    committed.run("diff", "first", "HEAD", "--remove-apps", exit_code=64)

"""`tidegate init --production`: a project with an image, services, and a CI that deploys."""

import json
import os
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from tidegate.cli.commands import COMMANDS
from tidegate.cli.main import application
from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.render.plan_markdown import COMMENT_CHARACTERS, plan_markdown
from tidegate.project.create import requirement
from tidegate.project.shipped import deploy_folder

NOTHING = Diff(apps=(), refusals=(), update_schedules=True, after={})
SHA = "1234567890abcdef1234567890abcdef12345678"

GH = """#!{python}
import json, re, sys
from pathlib import Path

kept = Path({kept!r})
comments = json.loads(kept.read_text())
arguments = sys.argv[1:]
assert arguments.pop(0) == "api"
if "--jq" in arguments:
    wanted = re.search(r'startswith\\("(.*?)"\\)', arguments[arguments.index("--jq") + 1])[1]
    print("\\n".join(str(number) for number, body in comments if body.startswith(wanted)))
else:
    body = Path(arguments[arguments.index("--field") + 1].removeprefix("body=@")).read_text()
    if "PATCH" in arguments:
        number = int(arguments[2].rpartition("/")[2])
        comments = [[each, body if each == number else old] for each, old in comments]
    else:
        comments.append([len(comments) + 1, body])
    kept.write_text(json.dumps(comments))
"""


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project for production; it is the working folder."""
    monkeypatch.chdir(tmp_path)
    assert run("init", "shop", "--production").exit_code == 0
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(application, list(arguments))


def workflow(shop: Path) -> Any:
    return yaml.safe_load((shop / ".github/workflows/tidegate.yml").read_text())


def files_below(folder: Path) -> set[Path]:
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


class Installed(Distribution):
    """An installed Tidegate, and where pip says that it came from."""

    version = "1.2"

    def __init__(self, direct: dict[str, Any] | None) -> None:
        self.direct = direct

    def read_text(self, filename: str) -> str | None:
        assert filename == "direct_url.json"
        return None if self.direct is None else json.dumps(self.direct)

    def locate_file(self, path: Any) -> Any:
        raise NotImplementedError


@pytest.mark.parametrize(
    ("direct", "line"),
    [
        (None, "tidegate[iceberg,postgres]==1.2"),
        (
            {"url": "https://host/us/tidegate", "vcs_info": {"vcs": "git", "commit_id": SHA}},
            f"tidegate[iceberg,postgres] @ git+https://host/us/tidegate@{SHA}",
        ),
        (
            {
                "url": "file:///us/all",
                "vcs_info": {"vcs": "git", "commit_id": SHA, "requested_revision": "main"},
                "subdirectory": "python",
            },
            f"tidegate[iceberg,postgres] @ git+file://localhost/us/all@{SHA}#subdirectory=python",
        ),
        (
            {"url": "https://host/t.zip", "archive_info": {"hash": "sha256=ab"}, "subdirectory": "python"},
            "tidegate[iceberg,postgres] @ https://host/t.zip#sha256=ab&subdirectory=python",
        ),
        (
            {"url": "https://host/t.zip", "archive_info": {}},
            "tidegate[iceberg,postgres] @ https://host/t.zip",
        ),
        (
            {"url": "https://host/t.whl", "archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}}},
            "tidegate[iceberg,postgres] @ https://host/t.whl#sha256=ab",
        ),
        (
            {"url": "file:///src", "dir_info": {"editable": True}, "subdirectory": "python"},
            "tidegate[iceberg,postgres] @ file:///src#subdirectory=python",
        ),
    ],
)
def test_it_requires_what_it_was_installed_from(direct: dict[str, Any] | None, line: str) -> None:
    assert requirement(("iceberg", "postgres"), Installed(direct)) == line


GIT = {"vcs_info": {"vcs": "git", "commit_id": SHA}}


@pytest.mark.parametrize(
    ("direct", "reference", "is_here"),
    [
        ({"url": "file:///src", "dir_info": {}}, "file:///src", True),
        ({"url": "file:///src"} | GIT, f"git+file://localhost/src@{SHA}", True),
        ({"url": "https://host/t.whl", "archive_info": {}}, "https://host/t.whl", False),
        ({"url": "https://host/us/tidegate"} | GIT, f"git+https://host/us/tidegate@{SHA}", False),
    ],
)
def test_it_says_that_others_cannot_install_from_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direct: dict[str, Any], reference: str, is_here: bool
) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda _: Installed(direct))

    said = run("init", str(tmp_path / "shop"), "--production").output

    wanted = (tmp_path / "shop/requirements.txt").read_text()
    assert wanted.endswith(f"tidegate[iceberg,postgres] @ {reference}\n")
    assert ("requirements.txt names a folder or a file of this machine" in said) == is_here


def test_it_has_every_file_of_the_folder_deploy_for_an_environment_of_its_own(shop: Path) -> None:
    shipped = deploy_folder()
    wanted = {path.relative_to(shipped) for path in shipped.rglob("*") if path.is_file()}

    assert {
        path.relative_to(shop / "deploy") for path in (shop / "deploy").rglob("*") if path.is_file()
    } == wanted
    assert "prod" in tomllib.loads((shop / "tidegate.toml").read_text())["env"]
    assert (shop / "deploy/requirements.txt").read_text() == "-r ../requirements.txt\n"
    assert "postgres" in (shop / "requirements.txt").read_text()
    compose: Any = yaml.safe_load((shop / "deploy/compose.yaml").read_text())
    assert {each["environment"].get("TIDEGATE_ENV") for each in compose["services"].values()} == {
        None,
        "prod",
    }
    assert "TIDEGATE_ENV: prod" in (shop / "deploy/kubernetes/config.yaml").read_text()
    assert "\nTIDEGATE_ENV=prod\n" in (shop / "deploy/systemd/environment.example").read_text()


def test_it_is_not_for_a_project_that_exists(tmp_path: Path) -> None:
    result = run("init", str(tmp_path), "--production", "--beside")

    assert result.exception is not None and "--production makes" in str(result.exception)


def test_its_workflow_calls_commands_that_exist(shop: Path) -> None:
    shell = [step.get("run", "") for job in workflow(shop)["jobs"].values() for step in job["steps"]]
    called = [line.split()[1] for text in shell for line in text.splitlines() if line.startswith("tidegate ")]

    assert called == ["lint", "test", "plan", "deploy"] and set(called) <= COMMANDS.keys()


def test_its_workflow_deploys_the_plan_that_was_made(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIDEGATE_ENV", "prod")
    monkeypatch.setenv("TIDEGATE_STORE_URL", f"sqlite:///{shop}/store.db")
    planned = run("plan", "--out", "plan.json", "--format", "markdown")
    assert planned.exit_code == 2

    assert run("deploy", "--plan", "plan.json", "--reason", SHA).exit_code == 0
    assert run("plan").exit_code == 0
    assert run("deploy", "--plan", "plan.json").exception is not None, "it has moved"


def test_the_comment_is_written_once_and_then_over(shop: Path, tmp_path: Path) -> None:
    kept = tmp_path / "comments.json"
    kept.write_text(json.dumps([[1, "looks good"]]))
    gh = tmp_path / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(GH.format(python=sys.executable, kept=str(kept)))
    gh.chmod(0o755)
    (step,) = (each for each in workflow(shop)["jobs"]["check"]["steps"] if each.get("name") == "comment")
    variables = {"PATH": f"{gh.parent}:{os.environ['PATH']}", "GITHUB_REPOSITORY": "us/shop", "NUMBER": "7"}

    for text in ("one", "two"):
        (shop / "plan.md").write_text(plan_markdown("shop", "prod", NOTHING, [text]))
        subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]], cwd=shop, env=variables, check=True
        )

    first, (_, second) = json.loads(kept.read_text())
    assert first == [1, "looks good"]
    assert "two" in second and "one" not in second and len(json.loads(kept.read_text())) == 2


def test_the_plan_as_markdown(shop: Path) -> None:
    said = run("plan", "--format", "markdown").output

    assert said.startswith(
        "<!-- tidegate plan: shop -->\n### A deployment of `shop` changes\n\n```diff\n+ app shop\n"
    )
    assert said.endswith("\n```\n\n")


@pytest.mark.parametrize("count", [1, 100_000])
def test_a_long_plan_is_cut_at_a_line_and_says_so(count: int) -> None:
    lines = [f"+ dataset number_{each}" for each in range(count)]

    text = plan_markdown("a`b-->c", "", NOTHING, lines)

    assert len(text) <= COMMENT_CHARACTERS
    assert text.startswith("<!-- tidegate plan: a_b--_c -->\n")
    shown = text.count("+ dataset number_")
    assert shown == count or f"… {count - shown} more lines" in text


def test_a_fence_in_the_plan_ends_nothing() -> None:
    assert "\n````diff\n```sql\n````\n" in plan_markdown("shop", "", NOTHING, ["```sql"])

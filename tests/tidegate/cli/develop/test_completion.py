"""`tidegate completion`: real bash completes commands, options and the names of the store with the script."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import typer
from typer._completion_classes import BashComplete

from tests.tidegate.project import Project
from tidegate.cli import main, names
from tidegate.scheduler.model.instance import Instance
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.store.sql import schema

pytestmark = pytest.mark.slow  # whole commands

ROOT = Path(__file__).parents[4]

ASK = """\
eval "$(tidegate completion bash)"
COMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
{last}
$(complete -p tidegate | sed 's/.* -F \\([^ ]*\\) .*/\\1/') tidegate
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A search path on which `tidegate` is the command of this checkout."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "tidegate"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m tidegate.cli.main "$@"\n')
    script.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def completed(project: Project, path: str, words: str, *, empty: bool = False) -> list[str]:
    """The words that bash offers for the last one of a line; with `empty` for one that has not begun."""
    last = "COMP_WORDS+=(''); COMP_CWORD=$(( COMP_CWORD + 1 ))" if empty else ""
    done = subprocess.run(
        ["bash", "--norc", "-c", ASK.format(words=words, last=last)],
        cwd=project.folder,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return [word for word in done.stdout.splitlines() if word]


@pytest.mark.slow
def test_commands_and_options_are_completed(deployed: Project, path: str) -> None:
    assert completed(deployed, path, "tidegate sche") == ["schema", "schedules"]
    assert completed(deployed, path, "tidegate jobs re") == ["retry", "requeue"]
    assert completed(deployed, path, "tidegate deploy --upd") == ["--update-schedules"]
    assert completed(deployed, path, "tidegate explain W-W") == ["W-WINDOW"]


@pytest.mark.slow
def test_names_of_the_store_are_completed(deployed: Project, path: str, asked: Callable[[], None]) -> None:
    """Two of them by bash, the others in this process, by what bash calls."""
    deployed.arrive("2026-03-09")
    (job,) = deployed.json("jobs", "list")

    assert completed(deployed, path, "tidegate schedules suspend report_") == [
        "report_at_six",
        "report_by_day",
        "report_daily",
    ]
    assert completed(deployed, path, "tidegate jobs cancel", empty=True) == [job["id"]]

    asked()
    assert offered("why sales/report_d") == ["sales/report_daily"]
    assert offered("report sales/") == ["sales/orders", "sales/report"]
    assert offered("run make") == ["make_report"]
    assert offered("jobs list --schedule report_a") == ["report_at_six"]
    assert offered("apps hold ") == ["sales"]


@pytest.mark.slow
def test_environments_are_completed_before_and_after_the_command(project: Project, path: str) -> None:
    with (project.folder / "tidegate.toml").open("a") as file:
        file.write('[env.prod.store]\nurl = "sqlite:///prod.db"\n[env.test.spark]\n')
    assert completed(project, path, "tidegate --env", empty=True) == ["prod", "test"]
    assert completed(project, path, "tidegate plan --env p") == ["prod"]
    assert completed(project, path, "tidegate jobs list --env t") == ["test"]


CHANNELS = """
[alerts.channels.ops]
kind = "command"
command = ["true"]
"""


def offered(words: str) -> list[str]:
    """The words for the last one of a line, in this process; it is empty after a space."""
    *given, begun = words.split(" ")
    cli = typer.main.get_command(main.application)
    return [
        each.value
        for each in BashComplete(cli, {}, "tidegate", main.COMPLETION_VARIABLE).get_completions(given, begun)
    ]


@pytest.fixture
def asked(deployed: Project, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Makes the commands of this process as a call of a completion script does, until the end of the test."""

    def ask() -> None:
        monkeypatch.setenv(main.COMPLETION_VARIABLE, "complete_bash")
        main.load_command.cache_clear()

    yield ask
    main.load_command.cache_clear()


def test_what_commands_take_is_completed(deployed: Project, asked: Callable[[], None]) -> None:
    with (deployed.folder / "tidegate.toml").open("a") as file:
        file.write(CHANNELS)
    for token in ("old", "reports"):
        deployed.run("token", "create", token, "--role", "read")
    deployed.run("token", "revoke", "old")
    (first,) = deployed.json("deployments", "log")
    asked()

    assert offered("alerts test ") == offered("alerts list --channel o") == ["ops"]
    assert offered("token revoke ") == ["reports"]
    assert offered("token create r") == []
    for command in ("show", "diff", "rollback"):
        assert offered(f"deployments {command} ") == [str(first["number"])]
    today = datetime.now(ZoneInfo("Europe/Berlin")).date()
    keys = offered("report orders --key ")
    assert keys[:2] == [str(today), str(today - timedelta(days=1))]
    assert len(keys) == names.PARTITIONS_MAX
    assert offered("report no_dataset --key ") == []


def test_jobs_are_completed_that_the_command_takes(deployed: Project, asked: Callable[[], None]) -> None:
    at = datetime.now(UTC)
    jobs = {
        "waits": {"state": JobState.PENDING_TRIGGER},
        "pauses": {"state": JobState.PENDING_CONSTRAINT, "retry_at": at},
        "decided": {"state": JobState.PENDING_LAUNCH},
        "runs": {"state": JobState.LAUNCHED},
        "dead": {"state": JobState.FAILED, "reason": Reason.F_LAUNCH},
        "failed": {"state": JobState.FAILED},
        "done": {"state": JobState.SUCCEEDED},
        "instance": {
            "state": JobState.PENDING_TRIGGER,
            "instance": Instance(key="k", scheduled=at, start=at, business=at, business_date="d"),
        },
    }
    store = deployed.store()
    with store.transaction() as transaction:
        transaction.put_jobs(
            [
                Job(id=id, schedule="sales/report_daily", key="", opened_at=at, **each)
                for id, each in jobs.items()
            ]
        )
    store.close()
    asked()

    assert set(offered("jobs cancel ")) == {"waits", "pauses", "decided"}
    assert set(offered("jobs force ")) == {"waits", "pauses"}
    assert set(offered("jobs retry ")) == {"failed", "dead", "pauses"}
    assert offered("jobs requeue ") == ["dead"]
    assert set(offered("jobs show ")) == jobs.keys()


@pytest.mark.slow
def test_without_a_store_nothing_is_offered_and_nothing_is_made(project: Project, path: str) -> None:
    assert completed(project, path, "tidegate schedules suspend r") == []
    assert not (project.folder / ".tidegate").exists()


def test_an_older_store_is_left_as_it_is(deployed: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(deployed.folder)
    assert names.completed(("schedules",), "r") != []
    deployed_as = schema.HEAD
    monkeypatch.setattr(schema, "HEAD", "9998")

    assert names.completed(("schedules",), "r") == []
    with sqlite3.connect(deployed.folder / ".tidegate/store.db") as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchone() == (deployed_as,)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script_that_it_can_read(project: Project, shell: str, path: str) -> None:
    script = project.run("completion", shell)

    assert "_TIDEGATE_COMPLETE=complete_" + shell in script
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True, check=False)
        assert (checked.returncode, checked.stderr) == (0, "")


def test_completing_names_loads_neither_dagster_nor_spark(deployed: Project) -> None:
    program = (
        "import sys; from tidegate.cli.main import load_command; from tidegate.cli import names\n"
        "found = names._names(('schedules',))\n"
        "print(found, [name for name in ('dagster', 'pyspark', 'pandas') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=deployed.folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.endswith("'sales/report_daily'] []\n")

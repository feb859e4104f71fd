"""Processes that work on a home: who they are, which of them are too many, and who ends them. No Dagster."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.tidegate.project import Project
from tidegate.cli.operate.health.findings import Health
from tidegate.cli.operate.health.found import second_set
from tidegate.processes.alive import DagsterState
from tidegate.processes.interrupts import ending_signals
from tidegate.processes.living import DAEMON, Living, beside, living_at, part_of, to_end
from tidegate.processes.reaper import STARTED_BY
from tidegate.project.loading import RUN_MODULE, SELDOM
from tidegate.project.settings.settings import load_settings
from tidegate.spark_jobs.commit.process import new_owner, this_process

GONE_SECONDS = 20
NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
ENDED = this_process().replace(f"/{os.getpid()}/", "/999999999/")

PARENT = """
import sys, time
from pathlib import Path
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.site import Site

CHILD = '''
import subprocess, sys, time
theirs = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print(theirs.pid, flush=True)
time.sleep(600)
'''
folder = Path(sys.argv[1])
with DagsterProcesses(Site(project=folder, home=folder, logs=folder)) as processes:
    child = processes._start("child", [sys.executable, "-c", CHILD])
    child.wait_until(lambda: child.log.read_text().endswith("\\n"))
    print(child.pid, child.log.read_text().strip(), flush=True)
    time.sleep(600)
"""

Start = Callable[..., int]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a process that looks like a part of Dagster, and returns its id."""
    started = list[subprocess.Popen[bytes]]()

    def begin(home: Path, mark: str = "", name: str = "dagster-daemon") -> int:
        environment = {**os.environ, "DAGSTER_HOME": str(home), STARTED_BY: mark}
        command = [name, "-c", "import time; time.sleep(600)"]
        process = subprocess.Popen(command, executable=sys.executable, env=environment)
        started.append(process)
        while not Path(f"/proc/{process.pid}/environ").read_bytes():
            # Its program is being loaded: for a moment it has neither a name nor variables.
            time.sleep(0.01)
        return process.pid

    yield begin
    for each in started:
        each.kill()
        each.wait()


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_killed_parent_takes_its_processes_and_theirs_with_it(tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path)], stdout=subprocess.PIPE)
    with parent:
        assert parent.stdout is not None
        pids = [int(word) for word in parent.stdout.readline().split()]
        assert len(pids) == 2 and all(map(alive, pids))

        parent.kill()

    deadline = time.monotonic() + GONE_SECONDS
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, pids))


def test_dev_is_refused_beside_processes_that_it_has_not_started(project: Project, start: Start) -> None:
    home = load_settings().dagster_home
    pid = start(home)
    start(project.folder / "another")

    refusal = project.refused("dev")

    assert f"processes of another start already work on {project.folder}, since " in refusal.message
    assert refusal.message.endswith(f": daemon {pid}")
    assert f"`kill {pid}`" in refusal.hint
    assert not (project.folder / ".tidegate" / "store.db").exists(), "nothing was deployed"


def test_a_second_daemon_on_a_home_is_found_with_its_parent(tmp_path: Path, start: Start) -> None:
    ours = new_owner()
    first = start(tmp_path)
    assert beside(living_at(tmp_path)) == ()
    server = start(tmp_path, mark=ENDED, name="dagster-webserver")
    second = start(tmp_path, mark=ours)

    found = living_at(tmp_path)

    assert {(each.part, each.pid, each.owner) for each in found} == {
        ("daemon", first, ""),
        ("webserver", server, ENDED),
        ("daemon", second, ours),
    }
    assert {each.pid for each in beside(found)} == {first, server}


def living(pid: int, minute: int, owner: str = "", part: str = DAEMON) -> Living:
    return Living(pid=pid, part=part, owner=owner, since=NOW + timedelta(minutes=minute))


@pytest.mark.parametrize(
    ("found", "left", "command"),
    [
        pytest.param([living(1, 0)], "", "`kill `", id="one daemon"),
        pytest.param([living(1, 0), living(2, 1, part="webserver")], "", "`kill `", id="no second daemon"),
        pytest.param([living(1, 0), living(2, 1)], "1", "`kill 1`", id="the older one, of no parent"),
        pytest.param(
            [living(1, 0, "a/7/b/c/d/8/1"), living(2, 1, ENDED), living(3, 1, "a/9/b/c/d/8/1")],
            "2",
            "`kill 2`",
            id="the one whose parent has ended",
        ),
        pytest.param(
            [
                living(1, 0, "a/7/b/c/d/8/1"),
                living(2, 0, "a/7/b/c/d/8/1", "host"),
                living(3, 1, "a/9/b/c/d/8/1"),
            ],
            "1 2",
            "`kill 7`",
            id="the parent of the older ones",
        ),
    ],
)
def test_what_is_to_end_where_there_are_two(found: list[Living], left: str, command: str) -> None:
    assert " ".join(str(each.pid) for each in beside(found)) == left
    assert to_end(beside(found)) == command


def test_a_second_set_is_a_finding_with_its_remedy() -> None:
    state = DagsterState(home=Path("home"), heartbeat=NOW, beside=(living(4, 0), living(5, 1, part="host")))

    (finding,) = second_set(state)

    assert finding.health is Health.WRONG
    assert finding.text.endswith(": daemon 4, host 5") and "since 2026-03-10" in finding.text
    assert finding.remedy.startswith("end it: `kill 4 5`")


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("python -m dagster._daemon run -w x", "daemon"),
        ("python /bin/dagster-daemon run", "daemon"),
        ("python -m dagster code-server start -p 1", "code server"),
        ("python -m tidegate.project.loading dagster code-server start -p 1", "code server"),
        ("python -m tidegate.project.loading tidegate.cli.main serve --no-host", "server"),
        ("python -m dagster api grpc", ""),
        ("python -m dagster_webserver -p 1", "webserver"),
        ("python /bin/tidegate --project x serve", "server"),
        ("python -m tidegate.cli.main host", "host"),
        ("python -m tidegate.project.loading tidegate.server.host 12", "host"),
        ("vi dagster.yaml", ""),
        ("bash", ""),
    ],
)
def test_a_process_is_known_by_its_command(command: str, part: str) -> None:
    assert part_of(command.split()) == part


def test_a_terminal_that_closes_ends_what_was_not_started_with_nohup() -> None:
    before = signal.getsignal(signal.SIGHUP)
    try:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        assert signal.SIGHUP in ending_signals()
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        assert ending_signals() == (signal.SIGTERM, signal.SIGINT)
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_module_runs_as_from_python_with_a_collector_that_looks_seldom(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    show = "import gc, sys; print(gc.get_threshold(), sys.argv[1:3])"
    command = [*RUN_MODULE, "timeit", "-n1", "-r1", show]

    # tests/quick_python would do the same.
    monkeypatch.delenv("PYTHONPATH")
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert printed.startswith(f"{SELDOM} ['-n1', '-r1']")


def test_so_does_each_python_that_a_test_starts() -> None:
    command = [sys.executable, "-c", "import gc; print(gc.get_threshold())"]

    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == f"{SELDOM}\n"

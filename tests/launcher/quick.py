"""A project whose runs take no time, a code server on it, and a launcher in the process of the test.

The session of its programs is a dummy, so that a run costs what the launcher costs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType

from dagster import AssetKey, DagsterRun, RunRequest

from tests.dagster_defs.live.project import LiveProject
from tests.dagster_defs.sample import deploy
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB
from tidegate.dagster_defs.existing.new_run import run_id_of
from tidegate.dagster_defs.host.runs import Runs
from tidegate.dagster_defs.internals.workspace import WorkspaceFileTarget, WorkspaceProcessContext
from tidegate.domain.model import App, Program
from tidegate.launcher.launcher import TidegateRunLauncher
from tidegate.launcher.place import Place, place_of
from tidegate.launcher.records import Records, RunRecord
from tidegate.processes.site import ManagedProcess

PROGRAMS = '''
"""Programs without Spark, of one file that tests write again."""

import logging
import os
import sys
import threading
import time
from pathlib import Path

ANSWER = "first"
SEEN = []


def done(spark, inputs, params):
    """Say what this process is like."""
    Path("said").write_text(f"{ANSWER} {os.getpid()} {os.getcwd()} {os.environ.get('SAID_BY')}")
    return {}


def dirty(spark, inputs, params):
    """Leave traces, and say whether the run before has left any."""
    import quick_state

    logger, folder = logging.getLogger(), str(Path("elsewhere").resolve())
    found = [
        bool(SEEN),
        bool(quick_state.SEEN),
        "LEFT" in os.environ,
        folder in sys.path,
        Path.cwd().name == "elsewhere",
        any(isinstance(each, logging.FileHandler) for each in logger.handlers),
    ]
    Path("traces").write_text(f"{os.getpid()} {any(found)}")
    SEEN.append(1)
    quick_state.SEEN.append(1)
    os.environ["LEFT"] = "behind"
    sys.path.append(folder)
    logger.addHandler(logging.FileHandler("left.log"))
    Path("elsewhere").mkdir(exist_ok=True)
    os.chdir("elsewhere")
    return {}


def grow(spark, inputs, params):
    """Leave a hundred megabytes where no run after it looks."""
    os.left_behind = b"x" * (100 * 1024 * 1024)
    Path("said").write_text(f"{ANSWER} {os.getpid()}")
    return {}


def linger(spark, inputs, params):
    """Leave a thread that goes on until a file is there."""
    end = Path("linger-no-more").resolve()

    def go_on():
        while not end.exists():
            time.sleep(0.1)

    threading.Thread(target=go_on).start()
    return {}


def reconfigure(spark, inputs, params):
    """Change the settings of the project after this process has read them."""
    with Path("tidegate.toml").open("a") as settings:
        settings.write("# changed\\n")
    return done(spark, inputs, params)


def fail(spark, inputs, params):
    """Fail."""
    raise ValueError("no fares for the day")


def wait(spark, inputs, params):
    """Work until the process is ended from outside."""
    Path(f"waits-{os.getpid()}").touch()
    time.sleep(600)


def crash(spark, inputs, params):
    """Print a line, wait for a file, and crash as a library does."""
    print("at work")
    while not Path("crashes").exists():
        time.sleep(0.1)
    os.abort()
'''

DAGSTER = """\
telemetry: {{enabled: false}}
# Runs are launched by the process that submits them.
run_coordinator: {{module: dagster.core.run_coordinator, class: DefaultRunCoordinator}}
run_launcher:
  module: tidegate.launcher
  class: TidegateRunLauncher
  config: {{{config}, preload: {preload}}}
"""

PRELOAD = ("quick_library", "tests.doubles.dummy_session")
"""What the run server imports; a test changes the file of the first."""

NAMES = ("crash", "done", "dirty", "fail", "grow", "linger", "reconfigure", "wait")


def quick_app() -> App:
    """Programs that own no dataset, so that each is an asset itself."""
    programs = {name: Program(name=name, run=f"quick_programs.{name}") for name in NAMES}
    return App(name="quick", datasets={}, programs=programs, schedules={})


class Quick(LiveProject):
    """The project while its code server runs."""

    pause_seconds = 0.05
    workspace: WorkspaceProcessContext
    code_server: ManagedProcess

    def __init__(self, folder: Path, config: str) -> None:
        (folder / "schedules").mkdir()
        (folder / "tidegate.toml").write_text('[project]\nname = "quick"\n')
        (folder / "dagster.yaml").write_text(DAGSTER.format(config=config, preload=list(PRELOAD)))
        self.programs = folder / "quick_programs.py"
        self.programs.write_text(PROGRAMS)
        self.library = folder / "quick_library.py"
        self.library.touch()
        (folder / "quick_state.py").write_text("SEEN = []\n")
        super().__init__(folder)
        self.deploy()
        self._made = 0

    def deploy(self, revision: int = 1) -> None:
        """Deploy the app, which is always the same."""
        deploy(self.store, quick_app(), datetime.now(UTC), revision, self.settings.name)

    def launch(self, program: str, tags: Mapping[str, str] = MappingProxyType({})) -> str:
        """Launch a run of a program, and return its id."""
        self._made += 1
        key = f"quick-{self._made}"
        request = RunRequest(
            run_key=key, job_name=ALL_ASSETS_JOB, asset_selection=[AssetKey(["quick", program])]
        )
        Runs(self.instance, self.workspace, "quick").submit(request, tags)
        return run_id_of(key)

    def run(self, run_id: str) -> DagsterRun:
        found = self.instance.get_run_by_id(run_id)
        assert found is not None
        return found

    def ended(self, run_id: str) -> DagsterRun:
        """A run, once it has ended."""
        self.until(f"the end of {run_id}", lambda: self.run(run_id).is_finished)
        return self.run(run_id)

    def text(self, run_id: str) -> str:
        """All that Dagster has of a run."""
        return "\n".join(
            entry.user_message + str(entry.dagster_event) for entry in self.instance.all_logs(run_id)
        )

    def printed(self, run_id: str, stream: str) -> str:
        """What a run has printed, by the file that Dagster shows: "out" or "err"."""
        return "".join(
            each.read_text() for each in self.site.home.glob(f"storage/{run_id}/compute_logs/*.{stream}")
        )

    def waiting(self, run_id: str) -> int:
        """The process of a run of the program that waits, once it does."""
        process = self.until("the process", lambda: (found := self.record(run_id)) and found.process)
        assert process
        pid = int(process.split("/")[1])
        self.until("the program", (self.folder / f"waits-{pid}").exists)
        return pid

    @property
    def launcher(self) -> TidegateRunLauncher:
        found = self.instance.run_launcher
        assert isinstance(found, TidegateRunLauncher)
        return found

    def place(self, run_id: str) -> Place:
        found = place_of(self.run(run_id), self.instance.root_directory, self.launcher.config)
        assert found is not None
        return found

    def record(self, run_id: str) -> RunRecord | None:
        return Records(self.place(run_id).directory).get(run_id)

    def servers(self, run_id: str) -> list[str]:
        """The names of the servers that may have runs of the place of a run."""
        return list(Records(self.place(run_id).directory).servers())


@contextmanager
def quick_project(folder: Path, config: str) -> Iterator[Quick]:
    quick = Quick(folder, config)
    try:
        quick.processes.__enter__()
        quick.code_server = quick.processes.start_code_server()
        quick.open_instance()
        target = WorkspaceFileTarget([str(quick.site.workspace)])
        with WorkspaceProcessContext(quick.instance, target) as quick.workspace:
            yield quick
    finally:
        quick.stop()

"""The project in the code location of acme, or beside it: `tidegate dev` serves both, and their jobs run.

When it ends, by the end of its terminal or by SIGKILL, all it has started ends with it.
"""

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from dagster import DagsterInstance, DagsterRun

from tests import tally
from tests.dagster_dev import with_checkout
from tests.effort import only
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.store.open import open_store

pytestmark = [pytest.mark.dagster, pytest.mark.slow]

T = TypeVar("T")

ACME = Path(__file__).parent / "acme" / "definitions.py"
WAIT_SECONDS = 300

APP = """\
app: core
programs:
  load:
    job: load_region
    config: {ops: {load: {config: {region: "{{ args.region }}"}}}}
schedules:
  load: {program: load, trigger: {cron: "0 0 1 1 *"}, args: {region: eu}, status: active}
"""
MERGED = """\
import their_definitions
import tidegate
from dagster import Definitions

defs = Definitions.merge(their_definitions.defs, tidegate.project_definitions(project="."))
"""
BESIDE = [
    f'{{type = "module", name = "{module}"}}'
    for module in ("their_definitions", "broken", "tidegate.definitions")
]
MODULES = {
    "merged": '[tool.dagster]\nmodule_name = "merged"\n',
    "beside": f"[tool.dagster]\nmodules = [{', '.join(BESIDE)}]\n",
}
LOCATIONS = {"merged": ["merged"], "beside": ["tidegate.definitions", "their_definitions"]}
"""Where our dispatcher is, and where their job runs."""


MANY = 6
"""A code server, of which "beside" has two, the process behind it, daemon, host, server and webserver."""


@dataclass
class Dev:
    """A `tidegate dev`, and the end of its terminal that a person has."""

    process: "subprocess.Popen[bytes]"
    terminal: int

    def kill(self) -> None:
        """Kill it, and nothing that it has started."""
        self.process.kill()

    def close(self) -> None:
        """Close the window of its terminal."""
        os.close(self.terminal)


class Place:
    """A project of acme that has ours, as `tidegate dev` runs it."""

    def __init__(self, folder: Path, shape: str) -> None:
        self.folder = folder
        self.notes = folder / "notes"
        self.notes.mkdir()
        (folder / "their_definitions.py").write_text(ACME.read_text())
        (folder / "broken.py").write_text("import nothing_of_this_name\n")
        (folder / "merged.py").write_text(MERGED)
        (folder / "pyproject.toml").write_text(MODULES[shape])
        (folder / "tidegate.toml").write_text('[project]\nname = "core"\n')
        (folder / "schedules").mkdir()
        (folder / "schedules" / "core.yaml").write_text(APP)
        self.home = folder / ".tidegate" / "dagster"
        self.log = folder / "dev.log"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")},
            "PYTHONPATH": with_checkout(),
            "ACME_NOTES": str(self.notes),
        }

    @contextmanager
    def dev(self, end: Callable[["Dev"], None]) -> Iterator[None]:
        """Run `tidegate dev` in a terminal until the block ends; then no process of it is left.

        Args:
            end: what ends it.
        """
        terminal, inside = pty.openpty()
        with self.log.open("wb") as output, os.fdopen(inside, "rb") as keyboard:
            process = subprocess.Popen(
                [sys.executable, "-m", "tidegate.cli.main", "dev"],
                cwd=self.folder,
                env=self.environment,
                stdin=keyboard,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # So that the end of the terminal is the end of its session.
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            )
        dev = Dev(process, terminal)
        tally.take_part("Dagster")
        try:
            self.until("the UI", lambda: "Dagster UI" in self.log.read_text() or process.poll() is not None)
            assert process.poll() is None, self.log.read_text()
            yield
            assert len(self.processes()) >= MANY
            end(dev)
            process.wait(WAIT_SECONDS)
            self.until("the end of all processes", lambda: not self.processes())
        finally:
            for pid in {process.pid, *self.processes()}:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait(WAIT_SECONDS)
            with suppress(OSError):
                os.close(terminal)

    def processes(self) -> set[int]:
        """All that lives of what was started for the Dagster of this project."""
        home = f"DAGSTER_HOME={self.home}".encode()
        found = set[int]()
        for each in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                found |= {int(each.parent.name)} if home in each.read_bytes().split(b"\0") else set()
        return found

    def tidegate(self, *command: str) -> None:
        found = subprocess.run(
            [sys.executable, "-m", "tidegate.cli.main", *command],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
        )
        assert found.returncode == 0, found.stdout + found.stderr

    def until(self, what: str, look: Callable[[], T]) -> T:
        deadline = time.monotonic() + WAIT_SECONDS
        while not (found := look()):
            assert time.monotonic() < deadline, f"{what}: {self.log.read_text()}"
            time.sleep(0.5)
        return found

    def succeeded(self) -> tuple[Job, ...]:
        """The jobs whose run has succeeded. A command for each look would take the time of the run."""
        store = open_store(load_settings(self.folder).store_url, create=False)
        with store.reading() as reader:
            found = reader.jobs(states=(JobState.SUCCEEDED,))
        store.close()
        return found


@pytest.mark.parametrize("shape", only(LOCATIONS, "beside"))  # merged: test_without_host.py runs such jobs
def test_a_job_of_theirs_is_launched_and_what_is_theirs_is_left_alone(tmp_path: Path, shape: str) -> None:
    """A location of theirs that cannot be loaded does not stop the others."""
    place = Place(tmp_path, shape)

    with place.dev(Dev.kill if shape == "merged" else Dev.close):
        place.tidegate("schedules", "trigger", "core/load")
        place.until("the end of the job", place.succeeded)
        with DagsterInstance.from_config(str(place.home)) as instance:
            runs = instance.get_runs()
            states = {each.name: each for each in instance.all_instigator_state()}

    assert [(run.job_name, location_of(run)) for run in runs] == [("load_region", LOCATIONS[shape][-1])]
    assert (place.notes / "loaded").read_text().split()[0] == "eu"
    assert not states.keys() & {"every_morning", "when_asked"}, "no switch of theirs has a row"
    (dispatcher,) = (each for name, each in states.items() if name == "tidegate_dispatcher")
    origin = dispatcher.origin.repository_origin.code_location_origin
    assert origin.location_name == LOCATIONS[shape][0]
    if shape == "beside":
        said = place.log.read_text()
        assert "the code location broken is not loaded: ModuleNotFoundError" in said


def location_of(run: DagsterRun) -> str:
    assert run.remote_job_origin is not None
    return run.remote_job_origin.location_name

"""Whether a run that has not begun has a process: what its launcher's note and its server's record say."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest
from dagster import DagsterRun

from tests.doubles.dead_process import DEAD, process_of
from tidegate.dagster_defs.deployed.tags import LAUNCH
from tidegate.launcher.config import LauncherConfig
from tidegate.launcher.launcher import NO_SERVER, LaunchNote, liveness_of, note_of_launch
from tidegate.launcher.place import Place
from tidegate.launcher.records import NO_PROCESS, Records, RunRecord
from tidegate.spark_jobs.commit.process import ProcessState, this_process

pytestmark = pytest.mark.dagster

ALIVE, ENDED, UNKNOWN = ProcessState.ALIVE, ProcessState.ENDED, ProcessState.UNKNOWN
HERE, ELSEWHERE = this_process(), "elsewhere/1/m/b/s/9"


@dataclass(frozen=True)
class Case:
    """Who launched a run, and what the record of its server says; None without a record."""

    launcher: str
    server: str | None
    process: str
    expected: ProcessState


CASES = {
    "the launcher ended before it asked a server": Case(DEAD, None, NO_PROCESS, ENDED),
    "a launcher that lives may have failed": Case(HERE, None, NO_PROCESS, UNKNOWN),
    "a launcher elsewhere": Case(ELSEWHERE, None, NO_PROCESS, UNKNOWN),
    "its server is about to fork it, whatever its launcher does": Case(DEAD, HERE, NO_PROCESS, ALIVE),
    "its server ended before it forked it": Case(HERE, DEAD, NO_PROCESS, ENDED),
    "its process lives, without server and launcher": Case(DEAD, DEAD, HERE, ALIVE),
    "its process ended": Case(HERE, HERE, DEAD, ENDED),
    "its process is elsewhere": Case(ELSEWHERE, ELSEWHERE, ELSEWHERE, UNKNOWN),
}


def run_with(note: str) -> DagsterRun:
    return DagsterRun(job_name="job", run_id="run-1", tags={LAUNCH: note})


def noted(launcher: str, folder: Path) -> DagsterRun:
    note = LaunchNote(launcher=process_of(launcher), folder=str(folder))
    return run_with(msgspec.json.encode(note).decode())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_process_decides_then_the_server_then_the_launcher(tmp_path: Path, case: Case) -> None:
    records = Records(tmp_path)
    records.create()
    if case.server is not None:
        server, own = process_of(case.server), process_of(case.process)
        records.put("run-1", RunRecord(server=server, instance="", folder="", process=own))

    state, text = liveness_of(noted(case.launcher, tmp_path))

    assert state is case.expected
    assert state is not ENDED or "ended" in text


def test_of_a_folder_that_is_not_here_nothing_is_known(tmp_path: Path) -> None:
    assert liveness_of(noted(DEAD, tmp_path / "elsewhere"))[0] is UNKNOWN


def test_a_run_that_another_launcher_launches_has_no_note() -> None:
    assert liveness_of(DagsterRun(job_name="job", run_id="run-1"))[0] is UNKNOWN
    assert liveness_of(run_with(NO_SERVER))[0] is UNKNOWN


def test_the_note_names_this_process_and_the_folder_of_the_server(tmp_path: Path) -> None:
    place = Place(
        home=str(tmp_path),
        executable="python",
        folder="",
        module="",
        machine=(),
        start={},
        config=LauncherConfig(),
    )

    run = run_with(note_of_launch(place))

    assert place.directory.is_dir()
    expected = LaunchNote(launcher=HERE, folder=str(place.directory))
    assert msgspec.json.decode(run.tags[LAUNCH], type=LaunchNote) == expected
    assert liveness_of(run)[0] is UNKNOWN

"""One `tidegate dev` for a project: the second one is refused and names the first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tidegate.domain.error import UserError
from tidegate.processes.lock import LOCK_FILE, address_in_use, project_lock

HOLDER = """
import sys, time
from pathlib import Path
from tidegate.processes.lock import project_lock
with project_lock(Path(sys.argv[1])) as lock:
    lock.say("http://127.0.0.1:3000")
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_second_one_names_the_process_and_the_address_of_the_first(tmp_path: Path) -> None:
    with project_lock(tmp_path) as lock:
        lock.say("http://127.0.0.1:3000")

        with pytest.raises(UserError) as refusal, project_lock(tmp_path):
            pass

    assert f"process {os.getpid()}, its UI is at http://127.0.0.1:3000" in refusal.value.message
    assert refusal.value.hint


def test_the_address_is_known_while_it_runs(tmp_path: Path) -> None:
    assert address_in_use(tmp_path) == ""
    with project_lock(tmp_path) as lock:
        assert address_in_use(tmp_path) == ""
        lock.say("http://127.0.0.1:3123")
        assert address_in_use(tmp_path) == "http://127.0.0.1:3123"
    assert address_in_use(tmp_path) == ""


def test_a_folder_that_was_replaced_since_ends_what_was_started_in_it(tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    with project_lock(folder) as lock:
        lock.check_folder()

        folder.rename(tmp_path / "before")
        with pytest.raises(UserError, match="was removed or replaced"):
            lock.check_folder()
        with project_lock(folder), pytest.raises(UserError, match="was removed or replaced"):
            lock.check_folder()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_file_that_is_being_written_names_nobody(tmp_path: Path, text: str) -> None:
    with project_lock(tmp_path):
        (tmp_path / LOCK_FILE).write_text(text)

        with pytest.raises(UserError, match="another process"), project_lock(tmp_path):
            pass


def test_the_end_of_a_process_ends_its_lock_and_the_file_that_stays_locks_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
    assert process.stdout is not None
    with process, process.stdout:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match=f"process {process.pid}"), project_lock(tmp_path):
            pass
        assert address_in_use(tmp_path) == "http://127.0.0.1:3000"
        process.kill()
        process.wait()
    assert address_in_use(tmp_path) == ""

    with project_lock(tmp_path):
        assert (tmp_path / LOCK_FILE).is_file()

"""Names of processes: whether one has ended, on this machine, after its restart, and elsewhere."""

import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest

from tidegate.spark_jobs.commit import process
from tidegate.spark_jobs.commit.process import has_ended, shown, this_process

NOW = datetime(2026, 3, 10, tzinfo=UTC)
LAPSED, VALID = NOW, NOW + timedelta(seconds=1)


def renamed(**changes: str) -> str:
    """This process, with other fields in its name."""
    fields = dict(
        zip(("host", "pid", "machine", "boot", "space", "begun"), this_process().split("/"), strict=True)
    )
    return "/".join((fields | changes).values())


def of_a_dead_process() -> str:
    code = "from tidegate.spark_jobs.commit.process import this_process; print(this_process())"
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


ROWS = [
    ("a living process of this machine, whatever its lease says", renamed(), LAPSED, False),
    ("its number belongs to another process now", renamed(begun="1"), VALID, True),
    ("it was killed", of_a_dead_process(), VALID, True),
    ("this machine was started again", renamed(machine="m", boot="before"), VALID, True),
    ("another machine, with a lease", renamed(host="other", boot="b"), VALID, False),
    ("another machine, whose lease has ended", renamed(host="other", boot="b"), LAPSED, True),
    ("a container of this machine, with a lease", renamed(space="pid:[1]"), VALID, False),
    ("no name of a process", "x", VALID, False),
]


@pytest.mark.parametrize(("sentence", "name", "until", "ended"), ROWS, ids=[row[0] for row in ROWS])
def test_whether_it_has_ended(monkeypatch, sentence, name, until, ended):
    _, boot, space = process._machine()
    monkeypatch.setattr(process, "_machine", lambda: ("m", boot, space))
    assert has_ended(name, until, NOW) is ended


def test_without_proc_the_lease_decides(monkeypatch):
    monkeypatch.setattr(process, "_machine", lambda: ("?", "?", "?"))
    assert not has_ended(this_process(), VALID, NOW)
    assert has_ended(this_process(), LAPSED, NOW)


def test_it_is_shown_by_number_and_host():
    assert shown("node-1/17/m/b/s/9") == "process 17 on node-1"
    assert shown(this_process()).endswith(f" on {socket.gethostname()}")
    assert shown("x") == "x"

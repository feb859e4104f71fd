"""Names of processes: whether one has ended, on this machine, after its restart, and elsewhere."""

import socket
from datetime import UTC, datetime, timedelta

import pytest

from tests.doubles.dead_process import DEAD, of_a_dead_process, process_of
from tidegate.spark_jobs.commit import process
from tidegate.spark_jobs.commit.process import (
    UNKNOWN,
    Machine,
    ProcessState,
    has_ended,
    is_gone,
    new_owner,
    shown,
    state_of,
    this_machine,
    this_process,
)

NOW = datetime(2026, 3, 10, tzinfo=UTC)
LAPSED, VALID = NOW, NOW + timedelta(seconds=1)


def renamed(**changes: str) -> str:
    """This process, with other fields in its name."""
    fields = dict(
        zip(("host", "pid", "machine", "boot", "space", "begun"), this_process().split("/"), strict=True)
    )
    return "/".join((fields | changes).values())


ROWS = [
    ("a living process of this machine, whatever its lease says", renamed(), LAPSED, False),
    ("its number belongs to another process now", renamed(begun="1"), VALID, True),
    ("it was killed", DEAD, VALID, True),
    ("this machine was started again", renamed(machine="m", boot="before"), VALID, True),
    ("another machine, with a lease", renamed(host="other", boot="b"), VALID, False),
    ("another machine, whose lease has ended", renamed(host="other", boot="b"), LAPSED, True),
    ("a container of this machine, with a lease", renamed(space="pid:[1]"), VALID, False),
    ("no name of a process", "x", VALID, False),
]


@pytest.mark.parametrize(("sentence", "name", "until", "ended"), ROWS, ids=[row[0] for row in ROWS])
def test_whether_it_has_ended(monkeypatch, sentence, name, until, ended):
    here = this_machine()
    monkeypatch.setattr(process, "this_machine", lambda: here._replace(id="m"))
    assert has_ended(process_of(name), until, NOW) is ended


def test_without_proc_the_lease_decides(monkeypatch):
    monkeypatch.setattr(process, "this_machine", lambda: Machine(UNKNOWN, UNKNOWN, UNKNOWN))
    assert not has_ended(this_process(), VALID, NOW)
    assert has_ended(this_process(), LAPSED, NOW)


def test_it_is_shown_by_number_and_host():
    assert shown("node-1/17/m/b/s/9") == "process 17 on node-1"
    assert shown(this_process()).endswith(f" on {socket.gethostname()}")
    assert shown("x") == "x"
    assert shown("node-1/17/m/b/s/9/3") == "process 17 on node-1"


def test_owners_of_one_process_differ_and_are_alive() -> None:
    first, second = new_owner(), new_owner()
    assert first != second
    assert {state_of(first), state_of(second)} == {ProcessState.ALIVE}


def test_an_owner_has_ended_with_its_process_or_with_its_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    dead = f"{of_a_dead_process()}/1"
    assert is_gone(dead)
    here = this_machine()
    monkeypatch.setattr(process, "this_machine", lambda: here._replace(id="m"))
    assert is_gone(renamed(machine="m", boot="before") + "/1"), "its machine was started again"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "one",
        "elsewhere/1/0123456789ab/7/1",
        "elsewhere/1/m/b/s/7/1",
        "a/b/host/1/m/b/s/7/1",
        f"host/1/{UNKNOWN}/7/1",
        # Every worker of the tests has another process in these names, so they need ids.
        pytest.param(renamed(pid="x"), id="no number"),
        pytest.param(renamed(machine=UNKNOWN, boot="before"), id="no machine"),
    ],
)
def test_a_process_of_which_nothing_is_known_is_not_taken_for_dead(name: str) -> None:
    assert state_of(name) is ProcessState.UNKNOWN
    assert not is_gone(name)

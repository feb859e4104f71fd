"""Several processes on one store: they queue up, they may die, and they may all be the first."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.doubles.dump import dump
from tests.worlds.samples import job
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.open import open_store
from tidegate.scheduler.store.protocol import Store

pytestmark = pytest.mark.store  # several Pythons are started for each test

PROJECT = Path(__file__).parents[2]
INCREMENTS = 40


def worker(url: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.store.worker", url, *arguments],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> None:
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors


@pytest.mark.usefixtures("really_migrated")
def test_two_processes_that_open_a_new_store_at_once_both_succeed(sql_url: str) -> None:
    processes = [worker(sql_url, "open") for _ in range(2)]
    for process in processes:
        finish(process)
    store = open_store(sql_url, create=False)
    with store.reading() as reader:
        assert reader.records(APPS) == ()
    store.close()


def test_processes_never_lose_each_others_updates(sql_store: Store, sql_url: str) -> None:
    processes = [worker(sql_url, "count", str(INCREMENTS)) for _ in range(2)]
    for _ in range(INCREMENTS):
        with sql_store.transaction() as transaction:
            transaction.set_cursor("count", (transaction.cursor("count") or 0) + 1)
    for process in processes:
        finish(process)
    with sql_store.reading() as reader:
        assert reader.cursor("count") == 3 * INCREMENTS


def test_a_process_killed_in_a_transaction_has_done_nothing(sql_store: Store, sql_url: str) -> None:
    with sql_store.transaction() as transaction:
        transaction.set_cursor("c", "whole")
        transaction.put_jobs([job("j", detail="whole")])
    before = dump(sql_store)
    process = worker(sql_url, "half")
    assert process.stdout is not None
    assert process.stdout.readline() == "half way\n"
    assert dump(sql_store) == before
    process.kill()
    process.communicate(timeout=60)
    assert dump(sql_store) == before
    with sql_store.transaction() as transaction:
        transaction.set_cursor("c", "after")
    with sql_store.reading() as reader:
        assert reader.cursor("c") == "after"

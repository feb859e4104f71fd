"""PostgreSQL is restarted, as by a crash, while two engines are at work: they go on, and nothing is lost."""

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.child import Child, Say
from tests.chaos.engine import Engine, judge, prepare
from tests.databases import control
from tests.effort import much
from tests.tally import reach

pytestmark = [pytest.mark.store, pytest.mark.endurance]  # a server of its own, which is restarted

RESTARTS = much(2)
ROUNDS = much(40)
STEPS_BETWEEN = 20


def test_a_server_that_crashes_under_load_loses_and_doubles_nothing(
    own_postgres_server: Any, tmp_path: Path
) -> None:
    server = own_postgres_server
    url, log = server.get_uri(), tmp_path / "outside.log"
    prepare(url)

    def work(say: Say) -> None:
        Engine(url, log, say, patient=True).play(ROUNDS)

    engines = [Child(work), Child(work)]
    restarts = 0
    for _ in range(RESTARTS):
        if all(engine.heard(STEPS_BETWEEN) for engine in engines):
            control(server, "restart")
            restarts += 1
    reach("restarts of PostgreSQL under load", restarts)

    assert [engine.wait() for engine in engines] == [0, 0]
    assert restarts == RESTARTS, "the engines were done before the server was restarted"
    judge(url, log, ROUNDS)

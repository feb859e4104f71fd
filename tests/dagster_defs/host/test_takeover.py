"""Two host processes on one project: one that is killed is replaced, and no run is lost or made twice.

An ordinary run has two hosts in one process (`test_host.py`), and a host whose process is killed and started
again (`tests/demo/test_demo.py`).
"""

import signal
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.dagster_defs.host.world import served
from tests.dagster_defs.instance import report_day
from tests.dagster_defs.live.live import Live
from tidegate.processes.site import ManagedProcess
from tidegate.scheduler.launch.active_host import active_host

pytestmark = pytest.mark.dagster


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with served(tmp_path_factory.mktemp("takeover")) as live:
        yield live


def active(live: Live) -> str | None:
    with live.store.reading() as reader:
        found = active_host(reader, live.settings.name, datetime.now(UTC))
    return None if found is None else found.process.split("/")[1]


def started(live: Live, said: str) -> ManagedProcess:
    process = live.processes.start_host()
    live.until(f"the host {said}", lambda: said in process.log.read_text())
    return process


def runs(live: Live, day: str) -> list[str]:
    return [run.run_id for run in live.instance.get_runs() if run.tags.get("dagster/partition") == day]


@pytest.mark.soak
def test_a_host_that_is_killed_is_replaced_by_the_one_that_waits(live: Live) -> None:
    first = started(live, "is active")
    assert active(live) == str(first.pid)
    report_day(live.instance, "2023-03-01")
    live.until("the run of the first day", lambda: runs(live, "2023-03-01"))
    first_log = first.log.rename(first.log.with_name("first.log"))
    second = started(live, "waits")

    first.signal_group(signal.SIGKILL)
    report_day(live.instance, "2023-03-02")
    live.until("the run of the second day", lambda: runs(live, "2023-03-02"))

    assert active(live) == str(second.pid)
    assert "host is active" in first_log.read_text()
    second.stop()
    assert active(live) is None
    assert [len(runs(live, day)) for day in ("2023-03-01", "2023-03-02")] == [1, 1]

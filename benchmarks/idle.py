"""The cores that nothing to do costs: of a host by the number of apps, of plain Dagster by that of sensors.

The host has the settings that are shipped for development. Plain Dagster has one asset sensor for each
condition; what counts there is its daemon and its code server.
"""

import sys
import time
from dataclasses import replace

from benchmarks.aims import verdict
from benchmarks.peers.burst import APP, PLAIN_SETTINGS, PROGRAMS, SQLITE
from benchmarks.processor import seconds_of
from benchmarks.project import deployed_project
from tidegate.processes.dagster import DagsterProcesses
from tidegate.processes.home import site_of
from tidegate.project.settings.settings import load_settings

APPS, SHORT_APPS = (1, 100, 1_000), (1, 1_000)
SENSORS = (1, 100)
SECONDS, SHORT_SECONDS = 30.0, 15.0
RATIO_LIMIT = 2.0
"""Of an idle host with the most apps to one with one app."""

_PLAIN = """\
import dagster as dg


@dg.job
def nothing():
    pass


def plain(number):
    @dg.asset_sensor(
        name=f"plain_{{number}}",
        asset_key=dg.AssetKey(["bench", f"raw_{{number}}"]),
        job=nothing,
        default_status=dg.DefaultSensorStatus.RUNNING,
    )
    def body(context, asset_event):
        return dg.SkipReason("nothing to do")

    return body


defs = dg.Definitions(jobs=[nothing], sensors=[plain(number) for number in range({sensors})])
"""


def main(*, short: bool = False) -> int:
    """Measure, print, and return 1 if the cost of an idle host grows with its apps."""
    seconds = SHORT_SECONDS if short else SECONDS
    for sensors in SENSORS:
        print(
            f"an idle daemon with {sensors:>4} sensor(s): {_plain(sensors, seconds):6.3f} cores", flush=True
        )
    cores: list[float] = []
    for apps in SHORT_APPS if short else APPS:
        cores.append(_host(apps, seconds))
        print(f"an idle host with {apps:>5} app(s):    {cores[-1]:6.3f} cores", flush=True)
    return verdict("idle host, most apps against one", cores[-1] / cores[0], RATIO_LIMIT)


def _host(apps: int, seconds: float) -> float:
    texts = {f"bench{number}": APP.format(name=f"bench{number}") for number in range(apps)}
    with (
        deployed_project(texts, SQLITE, {"bench_definitions.py": PROGRAMS}) as folder,
        DagsterProcesses(site_of(load_settings(folder))) as processes,
    ):
        processes.start_code_server()
        host = processes.start_host()
        host.wait_until(lambda: "is active" in host.log.read_text())
        return cores([host.pid], seconds)


def _plain(sensors: int, seconds: float) -> float:
    files = {"plain_definitions.py": _PLAIN.format(sensors=sensors)}
    with deployed_project({}, PLAIN_SETTINGS, files) as folder:
        site = replace(site_of(load_settings(folder)), module="plain_definitions")
        with DagsterProcesses(site) as processes:
            code_server = processes.start_code_server()
            daemon = processes.start_daemon()
            return cores([code_server.pid, daemon.pid], seconds)


def cores(processes: list[int], seconds: float) -> float:
    """Return the cores that processes and their children take, once they have started."""
    time.sleep(seconds / 2)
    before = seconds_of(processes)
    time.sleep(seconds)
    return (seconds_of(processes) - before) / seconds


if __name__ == "__main__":
    sys.exit(main())

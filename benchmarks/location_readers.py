"""What each process that reads a code location costs the code server, and itself.

A code server of Dagster's loads a location with a thousand programs; a webserver, a daemon and a host read it
one after the other, as they do after each deployment. It is processor time.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.deployed import START
from benchmarks.location import with_programs
from tidegate.processes.code_servers import HOST, free_port
from tidegate.project.environment import MODULE
from tidegate.project.settings.settings import load_settings
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import Scope
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.store.open import open_store

SCHEDULES = 1_000
READERS = ("webserver", "daemon", "host")
READY_SECONDS = 300
POLL_SECONDS = 0.2
AIM = 0.25
"""What the second and the third reader cost the code server, as a share of the first one."""


def main() -> int:
    """Measure, print, and return 1 if a reader after the first one costs too much."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "tidegate.toml").write_text('[project]\nname = "bench"\n')
        settings = load_settings(project)
        store = open_store(settings.store_url)
        with store.transaction() as transaction:
            wanted = {app.name: app for app in with_programs(SCHEDULES)}
            deploy(transaction, wanted, START, scope=Scope(project=settings.name), by=By(actor="bench"))
        store.close()
        port = free_port()
        command = ["-m", "dagster", "api", "grpc", "-m", MODULE, "-d", folder, "-h", HOST, "-p", str(port)]
        place = os.pathsep.join((folder, str(Path.cwd())))
        server = subprocess.Popen(
            [sys.executable, *command],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": place},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            shares = read(server.pid, port)
        finally:
            server.terminate()
            server.wait()
    worst = max(shares)
    print(f"the aim is {AIM} of the first reader: {worst:.2f}, {'met' if worst <= AIM else 'missed'}")
    return int(worst > AIM)


def read(server: int, port: int) -> list[float]:
    """Read the location once for each reader; return what the later ones cost, as shares of the first."""
    from dagster import DagsterInstance
    from dagster._core.remote_representation.code_location import GrpcServerCodeLocation

    from tidegate.dagster_defs.internals.origins import GrpcServerCodeLocationOrigin
    from tidegate.processes.code_servers import code_state

    ends = time.monotonic() + READY_SECONDS
    while not code_state(port)[0] and time.monotonic() < ends:
        time.sleep(POLL_SECONDS)
    print(f"{SCHEDULES:,} schedules loaded: {used(server):.2f} s with all imports")
    origin = GrpcServerCodeLocationOrigin(host=HOST, port=port, location_name="bench")
    costs = list[float]()
    with DagsterInstance.ephemeral() as instance:
        for reader in READERS:
            before, own = used(server), time.process_time()
            GrpcServerCodeLocation(origin, instance).cleanup()
            costs.append(used(server) - before)
            print(f"{reader}: code server {costs[-1]:.2f} s, itself {time.process_time() - own:.2f} s")
    return [cost / costs[0] for cost in costs[1:]]


def used(process: int) -> float:
    """Return the processor time of a process in seconds."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    raise SystemExit(main())

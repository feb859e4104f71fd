"""The lease of a run: its process is recorded when the op begins, and the lease renewed while it works.

A JVM that hangs for a whole lease is killed: the run may have lost its attempt by then, and its step is tried
again with a new one. The record stays when the op ends: Dagster has no end of the run yet. The dispatcher
removes it once Dagster has one (`dagster_defs.run.dead_runs`).
"""

from collections.abc import Generator
from contextlib import contextmanager

from dagster import DagsterInstance

from tidegate.dagster_defs.deployed.location import Location
from tidegate.dagster_defs.ingest.event_log import storage_id
from tidegate.scheduler.launch.owners import RunOwner, own
from tidegate.scheduler.store.patience import patiently
from tidegate.spark_jobs.commit.clock import SYSTEM_CLOCK
from tidegate.spark_jobs.commit.lease import LEASE, Heartbeat
from tidegate.spark_jobs.commit.process import this_process
from tidegate.spark_jobs.java import jvm


@contextmanager
def run_lease(location: Location, instance: DagsterInstance, run_id: str) -> Generator[None]:
    """Record this process as the owner of a run, and renew its lease while the block runs."""
    process, home = this_process(), storage_id(instance)

    def renew() -> bool:
        until = location.clock() + LEASE
        owner = RunOwner(instance=home, process=process, until=until, version=location.version)
        own(location.open_store(), run_id, owner)
        return True

    patiently(renew)
    heartbeat = Heartbeat(f"run {run_id}", renew, SYSTEM_CLOCK, hung=jvm.kill)
    heartbeat.start()
    try:
        yield
    finally:
        heartbeat.stop()

"""What hosts and sensors note of one another: whose clock differs, and which version is at work."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.dagster_defs.host.world import ELSEWHERE, HostWorld
from tests.dagster_defs.instance import evaluate, repository_of
from tidegate.dagster_defs.host.host import POLL_SECONDS, WAITING_SECONDS, Host
from tidegate.scheduler.launch.active_host import RENEWED_WITHIN, host_of
from tidegate.scheduler.launch.versions import CODE_SERVER, versions_at_work
from tidegate.spark_jobs.commit.process import this_process

pytestmark = pytest.mark.dagster


def test_of_two_hosts_with_different_clocks_one_decides(world: HostWorld) -> None:
    """The one whose clock is ahead has the lease; the other one sees that it is renewed, and says so."""
    ahead = Host(
        replace(world.location, clock=lambda: datetime.now(UTC) + world.after + timedelta(minutes=5)),
        world.instance,
        world.workspace,
        ELSEWHERE.format(2),
        world.said.append,
    )
    here, active = world.host(1), 0
    for _ in range(8):
        ahead.loop()
        here.loop()
        active += here.active is not None
        world.after += timedelta(seconds=1)
    assert active == 0
    # Less by what passes between a renewal and a look at it, on a machine with much to do.
    assert re.fullmatch(
        r"waits: process 2 on elsewhere is active: its clock is (2\d\d|300) s ahead of the clock of this"
        r" process; synchronize the clocks of the two machines",
        world.said[-1],
    )
    skipped = evaluate(world.instance, repository_of(world.location))
    assert (skipped.skip_message or "").startswith("the host drives the engine: process 2 on elsewhere")


def test_a_lease_of_a_clock_that_was_put_back_is_taken_soon(world: HostWorld) -> None:
    world.after += timedelta(minutes=5)
    world.host(1).loop()
    world.after -= timedelta(minutes=5)
    other = world.host(2)
    assert other.loop() == WAITING_SECONDS
    world.after += RENEWED_WITHIN
    assert other.loop() == POLL_SECONDS


def test_the_store_knows_the_versions_of_the_host_and_the_code_server(world: HostWorld) -> None:
    """After an upgrade in place, processes of the old version are named by `status` and `doctor`."""
    location = replace(world.location, version="1.2")
    host = Host(location, world.instance, world.workspace, ELSEWHERE.format(1), world.said.append)
    host.loop()
    evaluate(world.instance, repository_of(location))
    with location.open_store().reading() as reader:
        found, noted = host_of(reader, location.project), versions_at_work(reader, location.project)
    assert found is not None and found.version == "1.2"
    assert (
        noted[CODE_SERVER].version == world.location.version and noted[CODE_SERVER].process == this_process()
    )

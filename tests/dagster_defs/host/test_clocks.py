"""What hosts and sensors note of one another: the lease, whose clock differs, which version is at work."""

import re
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from tests.dagster_defs.host.world import ELSEWHERE, HostWorld
from tests.dagster_defs.instance import evaluate, repository_of
from tidegate.dagster_defs.dispatch import steps
from tidegate.dagster_defs.host.host import POLL_SECONDS, WAITING_SECONDS, Host
from tidegate.scheduler.launch.active_host import LEASE, RENEWED_WITHIN, active_host, host_of
from tidegate.scheduler.launch.versions import CODE_SERVER, versions_at_work
from tidegate.scheduler.store.protocol import Store
from tidegate.scheduler.tick.instant import TickReport
from tidegate.scheduler.tick.tick import GoesOn
from tidegate.spark_jobs.commit.process import this_process

pytestmark = pytest.mark.dagster


def test_of_two_hosts_with_different_clocks_one_decides(world: HostWorld) -> None:
    """The one whose clock is ahead has the lease; the other one sees that it is renewed, and says so."""
    ahead = Host(
        replace(world.location, clock=lambda: world.now() + timedelta(minutes=5)),
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


@pytest.mark.parametrize("taken", [False, True])
def test_a_tick_of_any_length_renews_the_lease_and_one_that_lost_it_stops(
    world: HostWorld, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    """Each transaction of the tick takes longer than a lease; another host may have taken it meanwhile."""
    host, other, parts = world.host(1), world.host(2), list[bool]()
    host.loop()

    def tick(store: Store, now: datetime, goes_on: GoesOn) -> TickReport:
        for _ in range(3):
            world.after += LEASE
            if taken:
                other._lease(world.location.open_store())
            with store.transaction() as transaction:
                parts.append(goes_on(transaction))
            if not parts[-1]:
                break
            with store.reading() as reader:
                found = active_host(reader, world.location.project, world.location.clock())
            assert found is not None and found.process == ELSEWHERE.format(1)
        return TickReport()

    monkeypatch.setattr(steps, "tick", tick)
    host._steps.advance(host._location.open_store())
    assert parts == ([False] if taken else [True] * 3)
    assert (host.active is None) is taken

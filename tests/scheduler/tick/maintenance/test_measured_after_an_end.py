"""What the next poll needs of a table is asked for at the end of an operation, and not only by this poll."""

import pytest

from tests.worlds.tables import HOURLY, TableWorld
from tests.worlds.world import at

TWO = (
    "nightly: {tables: 'w.a.*', operations: {rewrite_data_files: {timeout: 10m},"
    " expire_snapshots: {when: {any: [{snapshots: 50}]}}}}"
)


@pytest.mark.parametrize("how", ["ends", "times out"])
def test_an_end_asks_for_what_the_next_poll_needs_so_that_this_poll_does_not_wait(how):
    late = "00:10:30" if how == "times out" else "00:05:30"
    start = "00:00:30" if how == "times out" else "00:00"
    world = TableWorld(TWO, "w.a.x", blind=True, start=start)
    world.sick("w.a.x", snapshots=100)
    assert world.poll(start) == ["w.a.x rewrite"]
    if how == "ends":
        world.end_all(late)
    else:
        world.measure("00:09:31", "w.a.x")
        world.tick(late)
    assert world.table("w.a.x").wanted_at == at(late)
    following = "00:11:30" if how == "times out" else "00:06"
    world.measure("00:05:50" if how == "ends" else "00:10:50", "w.a.x")
    assert world.poll(following) == ["w.a.x expire"]


def test_an_end_asks_for_nothing_where_no_operation_needs_it():
    world = TableWorld(HOURLY, "w.a.x", blind=True)
    world.poll("00:00")
    world.end_all("00:05:30")
    assert world.table("w.a.x").wanted_at is None

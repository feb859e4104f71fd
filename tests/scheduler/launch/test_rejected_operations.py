"""Operations on tables whose launch cannot be requested, for example before the code location is loaded."""

from tests.worlds.tables import HOURLY, TableWorld
from tests.worlds.world import at
from tidegate.scheduler.launch.outbox import offer_launches, reject


def test_rejected_operations_on_tables_delay_no_pipeline():
    tables = [f"w.a.t{number}" for number in range(30)]
    schedule = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}}"
    world = TableWorld(HOURLY, *tables, schedules=schedule)
    world.tick("00:00")
    for clock in ("00:00", "00:05", "00:10"):
        with world.store.transaction() as transaction:
            for request in offer_launches(transaction, at(clock), "a", limit=50):
                reject(transaction, request.job, request.attempt, "not loaded", at(clock))
    assert world.slots()["runs"] == 30, "each keeps its slots, so that no other one starts on its table"
    world.arrive("00:15", "raw", "2026-03-09")
    world.tick("00:15")
    with world.store.transaction() as transaction:
        offered = offer_launches(transaction, at("00:15"), "a")
    assert (offered[0].schedule, len(offered)) == ("a/s", 25)

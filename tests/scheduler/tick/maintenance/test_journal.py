"""What the journal has of an operation that waits: each change of its reason, once."""

from tests.worlds.tables import SICK, TableWorld, shown
from tests.worlds.world import at
from tidegate.scheduler.model.journal import EntryKind


def test_each_change_of_the_reason_is_in_the_journal_once():
    world = TableWorld(SICK, "w.a.x", blind=True)
    world.poll("00:00")
    world.measure("00:00:30", "w.a.x")
    for minute in range(1, 8):
        world.poll(f"00:0{minute}")
    (job,) = world.jobs()
    assert [(entry.kind, entry.reason, shown(entry.at)) for entry in world.journal(job.id)] == [
        (EntryKind.JOB_OPENED, None, "00:00"),
        (EntryKind.WAITING, "M-HEALTH", "00:00"),
        (EntryKind.WAITING, "M-CONDITION", "00:01"),
        (EntryKind.WAITING, "M-HEALTH", "00:06"),
    ]
    assert world.record("w.a.x").due_since == at("00:00")
    assert world.record("w.a.x").reason == "M-HEALTH"


def test_a_pause_of_the_scheduler_does_not_open_a_job_twice():
    world = TableWorld(SICK, "w.a.x", blind=True)
    for clock in ("00:00", "05:00", "09:00", "05:00"):
        world.poll(clock)
        assert len(world.jobs()) == 1

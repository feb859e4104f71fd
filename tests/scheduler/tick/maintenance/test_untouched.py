"""In life a poll starts nothing on a dataset that was never published, and nothing on landed files."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.tables import HEAD, TableWorld, app_of
from tests.worlds.tables import store as store
from tests.worlds.world import at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.explain.operations.coverage import coverage, load_known
from tidegate.scheduler.explain.operations.why import explain_operations
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, Untouched

LANDED = HEAD.replace("start: 2026-01-01}}\n  out", "start: 2026-01-01}, path: landing/raw}\n  out", 1)
REWRITE = "rewrite_data_files: {interval: 1h}"
WIDE = f"nightly: {{tables: 'tidegate.a.*', operations: {{{REWRITE}, expire_snapshots: {{}}}}}}"


def deployed(world: TableWorld, clock: str, policies: str = WIDE, head: str = LANDED) -> None:
    with world.store.transaction() as transaction:
        app = app_of(policies, head=head)
        deploy(transaction, {"a": app}, at(clock), by=CLI, assume_published=False)


@pytest.fixture
def world(store) -> TableWorld:
    world = TableWorld("", store=store, head=LANDED)
    deployed(world, "00:00")
    return world


def untouched(world: TableWorld) -> dict[str, Untouched | None]:
    with world.store.reading() as reader:
        return {table.name: table.history.untouched for table in reader.records(MAINTAINED_TABLES)}


def test_nothing_begins_before_the_first_publish_and_then_all_is_due_at_once(world):
    assert untouched(world) == {
        "a/raw": Untouched.LANDED,
        "a/out": Untouched.NEVER_PUBLISHED,
        "a/whole": Untouched.NEVER_PUBLISHED,
    }
    assert [world.poll(f"0{hour}:00") for hour in range(1, 4)] == [[], [], []]
    assert world.jobs() == ()
    world.arrive("03:10", "out", "2026-01-01")
    assert world.poll("03:11") == ["a/out rewrite"]
    assert untouched(world)["a/out"] is None
    world.arrive("03:20", "raw", "2026-01-01")
    assert world.poll("03:21") == []
    assert untouched(world)["a/raw"] is Untouched.LANDED


def test_why_and_status_say_so(world):
    world.poll("01:00")
    status = world.status("01:00:30", "a/out")
    assert (status.due, status.next, status.reason, status.untouched) == (
        False,
        None,
        None,
        Untouched.NEVER_PUBLISHED,
    )
    with world.store.reading() as reader:
        out, _ = explain_operations(reader, "a/out", at("01:00:30"))
        raw, _ = explain_operations(reader, "a/raw", at("01:00:30"))
    assert out.headline == "not due: it was never published: operations are due from its first publish on"
    assert [each.what for each in out.missing] == ["its first publish"]
    assert raw.headline == "not due: its files are landed from outside: there is nothing to maintain"


def test_what_was_published_before_the_first_policy_is_due_at_once(store):
    world = TableWorld("", store=store, head=LANDED)
    world.arrive("00:10", "out", "2026-01-01")
    world.tick("00:11")
    deployed(world, "00:12")
    assert world.poll("00:13") == ["a/out rewrite"]


def test_a_folder_of_landed_files_that_a_program_writes_from_now_on_is_maintained(world):
    world.poll("01:00")
    deployed(world, "01:10", head=LANDED.replace("writes: [out]", "writes: [out, raw]"))
    assert untouched(world)["a/raw"] is Untouched.NEVER_PUBLISHED
    world.arrive("01:20", "raw", "2026-01-01")
    assert world.poll("01:21") == ["a/raw rewrite"]


def test_a_waiting_operation_on_what_has_become_landed_files_is_discarded(world):
    window = WIDE.replace("{interval: 1h}", "{window: {from: '05:00', to: '06:00'}}")
    written = LANDED.replace("writes: [out]", "writes: [out, raw]")
    deployed(world, "01:00", window, head=written)
    world.arrive("01:05", "raw", "2026-01-01")
    world.poll("01:06")
    assert "a/raw rewrite" in world.waiting()
    deployed(world, "01:10", window)
    assert "a/raw rewrite" not in world.waiting()
    assert world.poll("05:30") == []


def test_a_plan_names_the_tables_on_which_nothing_is_started(store):
    world = TableWorld("", store=store, head=LANDED)
    world.arrive("00:10", "out", "2026-01-01")
    world.tick("00:11")
    wanted = {"a": app_of(WIDE, head=LANDED)}
    with world.store.reading() as reader:
        (found,) = coverage(load_known(reader, wanted), difference(reader, wanted)).policies
    assert (found.never_published, found.landed) == (("a/whole",), ("a/raw",))


def test_examples_have_a_table_of_every_dataset_from_the_start(store):
    world = TableWorld(WIDE, store=store, head=LANDED)
    assert sorted(world.poll("00:00")) == ["a/out rewrite", "a/raw rewrite", "a/whole rewrite"]

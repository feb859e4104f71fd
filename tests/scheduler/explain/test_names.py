"""Names that people write: of one dataset of several apps, and of a job by the beginning of its id."""

import pytest

from tests.worlds.by import CLI
from tests.worlds.samples import job
from tests.worlds.world import DATASETS, World, app_of, at
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.explain.names import (
    find_dataset,
    find_job,
    find_schedule,
    find_target,
    find_task,
    short_ids,
)
from tidegate.scheduler.model.refused import AmbiguousName, UnknownName

S = "s: {program: q, status: active, trigger: {partitions: {dataset: raw}}, for_each: day}"


def with_two_apps() -> World:
    """A world with the app twice, as a and as b."""
    world = World(S)
    with world.store.transaction() as transaction:
        other = app_of(S, DATASETS.replace("app: a", "app: b"))
        deploy(transaction, {"a": world.app, "b": other}, at("10:00"), by=CLI)
    return world


def test_a_dataset_of_several_apps_needs_the_name_of_its_app():
    world = with_two_apps()
    with world.store.reading() as reader:
        with pytest.raises(AmbiguousName) as ambiguous:
            find_dataset(reader, "raw")
        assert find_dataset(reader, "raw", apps={"b"}) == "b/raw"
        assert find_dataset(reader, "a/raw") == "a/raw"
    assert ambiguous.value.message == 'several apps have a dataset "raw"'
    assert ambiguous.value.hint == "write one of a/raw, b/raw"


def test_a_schedule_is_found_among_the_apps_that_the_caller_may_see():
    world = with_two_apps()
    with world.store.reading() as reader:
        assert find_schedule(reader, "a/s").ref == "a/s"
        assert find_schedule(reader, "s", apps={"b"}).ref == "b/s"
        with pytest.raises(AmbiguousName, match='several apps have a schedule "s"'):
            find_schedule(reader, "s")
        with pytest.raises(UnknownName) as unseen:
            find_schedule(reader, "a/s", apps={"b"})
        with pytest.raises(UnknownName, match='task "a/s" is not deployed'):
            find_task(reader, "a/s", apps={"b"})
        with pytest.raises(UnknownName, match='"b/s" is a schedule, and no task'):
            find_task(reader, "b/s", apps={"b"})
    assert unseen.value.message == 'schedule "a/s" is not deployed'
    assert unseen.value.hint == 'did you mean "b/s"?'


@pytest.mark.parametrize(
    ("others", "short"),
    [
        ([], "1a2b3c4d"),
        (["a.s-ffffffffffff"], "1a2b3c4d"),
        (["a.s-1a2b3c4dffff"], "1a2b3c4de"),
        (["a.s-1a2b3c4defff", "a.s-1a2b3c4dffff"], "1a2b3c4de5"),
        (["b.s-1a2b3c4de5f6"], "a.s-1a2b3c4de5f6"),
    ],
)
def test_what_is_shown_of_an_id_names_the_job(others: list[str], short: str):
    world = World(S)
    with world.store.transaction() as transaction:
        transaction.put_jobs([job("a.s-1a2b3c4de5f6"), *map(job, others)])
    with world.store.reading() as reader:
        assert short_ids(reader, ["a.s-1a2b3c4de5f6"]) == {"a.s-1a2b3c4de5f6": short}
        assert find_job(reader, short).id == "a.s-1a2b3c4de5f6"
        assert find_target(reader, short) == "a.s-1a2b3c4de5f6"
        with pytest.raises(UnknownName):
            find_job(reader, short, apps=["c"])


def test_the_beginning_of_an_id_that_several_jobs_have_names_none():
    world = World(S)
    world.arrive("10:00", "raw", "2026-03-08", "2026-03-09")
    world.tick("10:00")
    first, second = world.jobs("s")
    with world.store.reading() as reader:
        with pytest.raises(AmbiguousName) as ambiguous:
            find_job(reader, "a.s-")
        assert find_job(reader, first.id) == first
        assert find_job(reader, second.id[:-1]) == second
    assert ambiguous.value.message == '2 jobs have an id that begins with "a.s-"'
    assert (ambiguous.value.hint or "").startswith(f"the newest is {second.id};")

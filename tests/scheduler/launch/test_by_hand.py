"""Runs without a job: their partitions and arguments, the jobs they wait for, and their entry."""

import msgspec
import pytest

from tests.worlds.world import World, at
from tidegate.domain.model import App, ExistingJob, Program
from tidegate.scheduler.launch.by_hand import (
    args_by_hand,
    check_keys,
    note_run_by_hand,
    refuse_beside_jobs,
    refuse_existing,
)
from tidegate.scheduler.model.journal import By, EntryKind
from tidegate.scheduler.model.refused import Refused

DAY = "2026-03-09"
NOW = at("12:00")
S = "s: {program: p, status: active, trigger: {partitions: {dataset: raw}}, for_each: day}"
WITH_ARGS = """
{name}:
  program: p
  status: {status}
  trigger: {{partitions: {{dataset: raw}}}}
  for_each: day
  args: {{of: {name}, day: "{{{{ key }}}}"}}
"""


@pytest.mark.parametrize(
    ("program", "keys", "wrong", "hint"),
    [
        ("p", [], "a/out has partitions, and no --key says which to write", 'write for example "2013-01-01"'),
        ("p", [DAY, "today"], "a/out: ", 'write for example "2013-01-01"'),
        ("p", [DAY, "24.12.2013"], "a/out: ", 'write "2013-12-24", the nearest key'),
        ("p", [DAY, "2062-03-09"], "a/out: the period of 2062-03-09 has not begun", "name a key whose"),
        ("q", [DAY], "the outputs of a/q have no partitions", "leave --key out"),
    ],
)
def test_keys_that_the_outputs_do_not_have_are_refused(
    program: str, keys: list[str], wrong: str, hint: str
) -> None:
    app = World(S).app
    with pytest.raises(Refused) as refused:
        check_keys(app, app.programs[program], keys, NOW)
    assert refused.value.message.startswith(wrong)
    assert (refused.value.hint or "").startswith(hint)


def test_keys_of_the_outputs_and_none_without_partitions_are_taken() -> None:
    app = World(S).app
    check_keys(app, app.programs["p"], [DAY], NOW)
    check_keys(app, app.programs["q"], [], NOW)
    check_keys(app, msgspec.structs.replace(app.programs["q"], writes=("plain",)), [], NOW)
    check_keys(app, msgspec.structs.replace(app.programs["q"], writes=("plain", "out")), [DAY], NOW)


def test_a_run_has_the_arguments_of_an_active_schedule_of_its_program() -> None:
    world = World(
        WITH_ARGS.format(name="a", status="suspended") + WITH_ARGS.format(name="z", status="active")
    )
    with world.store.reading() as reader:
        assert args_by_hand(reader, "a", "p", [DAY]) == {"of": "z", "day": DAY}
        assert args_by_hand(reader, "a", "p", [DAY, "2026-03-08"])["of"] == "z"
        assert args_by_hand(reader, "a", "q", []) == {}


def test_a_run_beside_a_job_that_writes_the_same_partition_is_refused() -> None:
    world = World(S)
    world.arrive("10:00", "raw", DAY)
    world.tick("10:00")
    job = world.only("s")
    with world.store.reading() as reader:
        for keys in ([DAY], [], [DAY, "2026-03-08"]):
            with pytest.raises(Refused) as refused:
                refuse_beside_jobs(reader, world.app, world.app.programs["p"], keys)
            assert refused.value.message == (
                f"job {job.id} (PENDING_LAUNCH) of a/s writes what a/p would write"
            )
        refuse_beside_jobs(reader, world.app, world.app.programs["p"], ["2026-03-08"])
        refuse_beside_jobs(reader, world.app, world.app.programs["q"], [])


def test_a_run_is_noted_in_the_journal_with_who_began_it() -> None:
    world = World(S)
    by = By(actor="cli:ada", reason="late feed")
    with world.store.transaction() as transaction:
        note_run_by_hand(transaction, "hand-1", "a", "p", (DAY,), {"n": 1}, at("10:00"), by)
    (entry,) = [each for each in world.journal() if each.kind is EntryKind.RUN_BY_HAND]
    assert (entry.at, entry.run_id) == (at("10:00"), "hand-1")
    assert entry.data == {"program": "a/p", "keys": [DAY], "args": {"n": 1}, **by.noted}


def test_a_job_of_a_code_location_is_not_run_by_hand() -> None:
    program = Program(name="load", existing=ExistingJob(job="load_region"))
    with pytest.raises(Refused, match="core/load is job load_region of a code location"):
        refuse_existing(App(name="core"), program)

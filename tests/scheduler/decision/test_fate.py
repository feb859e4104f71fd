"""What becomes of a job when its schedule changes: the whole table, and that deploy, plan and past agree."""

from datetime import timedelta
from itertools import product

import msgspec
import pytest

from tests.worlds.changing import A, B, C, collected, raw, s
from tests.worlds.world import World, app_of, at
from tidegate.compiler.plan.consequence import Effect
from tidegate.compiler.plan.diff import diff
from tidegate.domain.model import Schedule
from tidegate.scheduler.commands.deployment.deployed_rows import DeployedRows, deployed_apps
from tidegate.scheduler.commands.deployment.live import effects
from tidegate.scheduler.decision.changes.fate import Change, Fate, after_fate, fate
from tidegate.scheduler.explain.past.store_at import store_at
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.job import ByHand, Job, JobState
from tidegate.scheduler.model.journal import EntryKind

MODES = ("discard", "drain", "hold", "backlog")

SPEC = app_of(s(raw(3))).schedules["s"]

JOBS = {
    "collecting": Job(id="j", schedule="a/s", opened_at=at("10:00")),
    "ready": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.PENDING_CONSTRAINT),
    "held": Job(id="j", schedule="a/s", opened_at=at("10:00"), held_at=at("10:30")),
    "by hand": Job(id="j", schedule="a/s", opened_at=at("10:00"), by_hand=ByHand.TRIGGER),
    "decided": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.PENDING_LAUNCH),
    "seen": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.PENDING_LAUNCH, run_id="r"),
    "launched": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.LAUNCHED, run_id="r"),
    "succeeded": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.SUCCEEDED, run_id="r"),
    "failed": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.FAILED, run_id="r"),
    "dead letter": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.FAILED),
    "discarded": Job(id="j", schedule="a/s", opened_at=at("10:00"), state=JobState.DISCARDED),
}
WAITING = ("collecting", "ready", "held", "by hand")
KEEPING = ("hold", "backlog")


def state(mode: str, status: str) -> ScheduleState:
    spec: Schedule = msgspec.structs.replace(SPEC, on_suspend=mode)
    return msgspec.convert(
        {"ref": "a/s", "spec": spec, "fingerprint": "f", "status": status, "deployed_at": at("09:00")},
        ScheduleState,
    )


def said(its: Fate) -> str:
    return its.kind if its.reason is None else str(its.reason)


def row(waits: str, held: str, by_hand: str, decided: str = "stays") -> dict[str, str]:
    """The fates of all jobs: those named, and every job that has a run or has ended stays."""
    fates = dict.fromkeys(JOBS, "stays")
    return {
        **fates,
        "collecting": waits,
        "ready": waits,
        "held": held,
        "by hand": by_hand,
        "decided": decided,
    }


@pytest.mark.parametrize("status", ["active", "suspended"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("change", "code"), [(Change.DELETED, "D-DELETED"), (Change.RESET, "D-UPDATED")])
def test_a_deleted_or_reset_schedule_discards_all_that_has_no_run(
    change: Change, code: str, mode: str, status: str
) -> None:
    its = state(mode, status)
    expected = row(code, code, code, decided=code)
    assert {name: said(fate(job, change, its, its)) for name, job in JOBS.items()} == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("discard", row("D-SUSPENDED", "D-SUSPENDED", "D-SUSPENDED")),
        ("drain", row("stays", "released", "stays")),
        ("hold", row("held", "stays", "stays")),
        ("backlog", row("held", "stays", "stays")),
    ],
)
def test_a_suspended_schedule_obeys_its_on_suspend(mode: str, expected: dict[str, str]) -> None:
    before, after = state(mode, "active"), state(mode, "suspended")
    assert {name: said(fate(job, Change.SUSPENDED, before, after)) for name, job in JOBS.items()} == expected


@pytest.mark.parametrize("mode", MODES)
def test_a_resumed_schedule_releases_what_it_held(mode: str) -> None:
    before, after = state(mode, "suspended"), state(mode, "active")
    expected = row("stays", "released", "stays")
    assert {name: said(fate(job, Change.RESUMED, before, after)) for name, job in JOBS.items()} == expected


@pytest.mark.parametrize(("old", "new"), [*product(MODES, MODES)])
def test_an_active_schedule_carries_what_waits_whatever_its_on_suspend(old: str, new: str) -> None:
    before, after = state(old, "active"), state(new, "active")
    expected = row("stays", "released", "stays")
    assert {name: said(fate(job, Change.CARRIED, before, after)) for name, job in JOBS.items()} == expected


@pytest.mark.parametrize(("old", "new"), [*product(MODES, MODES)])
def test_a_suspended_schedule_carries_what_waits_as_its_new_on_suspend_asks(old: str, new: str) -> None:
    before, after = state(old, "suspended"), state(new, "suspended")
    if new in KEEPING:
        expected = row("held", "stays", "stays")
    elif new == "discard" != old:
        expected = row("D-SUSPENDED", "D-SUSPENDED", "stays")
    else:
        expected = row("stays", "released", "stays")
    assert {name: said(fate(job, Change.CARRIED, before, after)) for name, job in JOBS.items()} == expected


@pytest.mark.parametrize(("status", "old", "new"), [*product(("active", "suspended"), MODES, MODES)])
def test_a_waiting_job_that_a_carry_leaves_without_events_is_discarded(
    status: str, old: str, new: str
) -> None:
    before, after = state(old, status), state(new, status)
    found = {name: said(fate(job, Change.CARRIED, before, after, emptied=True)) for name, job in JOBS.items()}
    assert found == row("D-UPDATED", "D-UPDATED", "D-UPDATED")


def test_a_job_that_is_released_does_not_count_the_time_that_it_was_held() -> None:
    its, held = state("hold", "active"), msgspec.structs.replace(JOBS["held"], satisfied_at=at("10:00"))
    free = after_fate(held, Fate(kind="released"), its, at("11:00"))
    assert (free.held_at, free.held_for, free.next_check_at) == (None, timedelta(minutes=30), at("11:00"))
    again = after_fate(free, Fate(kind="held"), its, at("12:00"))
    assert (again.held_at, again.next_check_at) == (at("12:00"), at("12:00"))
    assert after_fate(held, Fate(kind="stays"), its, at("11:00")) == held


# --- deploy does it, plan counts it, the past folds it -----------------------------------


@pytest.mark.parametrize(
    ("old", "new", "update", "status"),
    [*product(MODES, MODES, ("reset", "carry"), ("active", "suspended"))],
)
def test_deploy_does_what_plan_counts_and_the_past_says_the_same(
    old: str, new: str, update: str, status: str
) -> None:
    world = collected(A, B, schedule=s(raw(3, f", on_suspend: {old}"), update))
    world.trigger("10:20", "s")
    world.tick("10:20")
    world.arrive("10:30", "raw", C)
    world.tick("10:30")
    if status == "suspended":
        world.suspend("10:40", "s")
    text = s(raw(2, f", on_suspend: {new}"), update)
    counted, before = planned(world, text), {job.id: job for job in world.jobs("s")}

    world.redeploy("11:00", text)

    jobs = {job.id: job for job in world.jobs("s")}
    reasons = [
        entry.reason
        for entry in world.journal("s")
        if entry.kind is EntryKind.DISCARDED and entry.at == at("11:00")
    ]
    held = [id for id, job in jobs.items() if job.held_at is not None and before[id].held_at is None]
    freed = [id for id, job in jobs.items() if job.waiting and before[id].held_at and not job.held_at]
    assert counted.discarded == {code: reasons.count(code) for code in reasons if code is not None}
    assert (counted.held, counted.released) == (len(held), len(freed))
    waiting = [job for job in jobs.values() if job.waiting]
    decided = [job for job in jobs.values() if job.state is JobState.PENDING_LAUNCH]
    assert (counted.carried, counted.launches, counted.active_runs) == (len(waiting), len(decided), 0)
    assert remembered(world) == {id: (job.state, job.held_at, job.held_for) for id, job in jobs.items()}


def planned(world: World, text: str) -> Effect:
    found: list[Effect] = []
    with world.store.reading() as reader:
        wanted = {"a": app_of(text)}
        changes = list(diff(deployed_apps(reader), wanted).schedules())
        found += effects(DeployedRows(reader, {}), changes, wanted).values()
    return found[0] if found else Effect(carried=len([job for job in world.jobs("s") if job.waiting]))


def remembered(world: World) -> dict[str, tuple[object, ...]]:
    with world.store.reading() as reader:
        past = store_at(reader, at("11:00"))
    with past.reading() as reader:
        return {job.id: (job.state, job.held_at, job.held_for) for job in reader.jobs()}

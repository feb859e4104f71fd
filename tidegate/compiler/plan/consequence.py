"""What the change of a schedule does to something live: its jobs, its runs, its status.

Pure. `compiler.plan.diff` says what changes and asks here what that means; `scheduler.commands.live`
counts what is going on, and `scheduler.commands.deploy` lets it happen.
"""

from collections.abc import Iterator
from typing import Literal

from tidegate.domain.model import Schedule
from tidegate.domain.value import Value

Action = Literal["create", "replace", "amend", "delete", "unchanged", "kept"]
"""`amend` changes a description or an owner and resets nothing; `kept` would be changed with updating on."""


class LiveState(Value, kw_only=True):
    """What a deployed schedule has going on.

    Attributes:
        waiting: jobs before PENDING_LAUNCH.
        pending_launch: jobs whose launch has been decided and whose run does not exist yet.
        active_runs: runs that exist and have not ended.
        by_hand, by_hand_events: waiting jobs that a person has triggered, which no suspension holds, and what
            a change would keep of their events.
        kept_jobs, kept_events: what a change with `on_update: carry` would keep of the waiting jobs, as
            the wanted trigger has it; the other waiting jobs would be left with nothing.
    """

    waiting: int = 0
    pending_launch: int = 0
    active_runs: int = 0
    by_hand: int = 0
    by_hand_events: int = 0
    kept_jobs: int = 0
    kept_events: int = 0
    status: Literal["active", "suspended"] = "suspended"


class Consequence(Value, kw_only=True):
    """What a change does to something live.

    Attributes:
        kind: `discards` jobs, `carries` them with their events, `holds` or `lets_go` those of a suspended
            schedule, lets decided `launches` happen as they were decided, `leaves` runs to end by
            themselves, `starts` or `keeps` in a status.
        count: of jobs or runs.
        events: how many of their events carried jobs keep.
        detail: the reason code of a discard, or the status.
    """

    kind: Literal["discards", "carries", "holds", "lets_go", "launches", "leaves", "starts", "keeps"]
    count: int = 0
    events: int = 0
    detail: str = ""


def consequences(
    action: Action, carries: bool, before: Schedule | None, coming: Schedule | None, state: LiveState
) -> Iterator[Consequence]:
    """What becomes of what a schedule has going on.

    Args:
        carries: it is replaced, and its waiting jobs keep their events.
        before: as it is deployed.
        coming: as it is wanted.
    """
    if action == "create" and coming is not None:
        yield Consequence(kind="starts", detail=coming.status)
    if action not in ("replace", "delete"):
        return
    if carries and before is not None and coming is not None:
        yield from _carrying(before, coming, state)
    else:
        jobs = state.waiting + state.pending_launch
        if jobs:
            reason = "D-UPDATED" if action == "replace" else "D-DELETED"
            yield Consequence(kind="discards", count=jobs, detail=reason)
    if state.active_runs:
        yield Consequence(kind="leaves", count=state.active_runs)
    if action == "replace":
        yield Consequence(kind="keeps", detail=state.status)


def _carrying(before: Schedule, coming: Schedule, state: LiveState) -> Iterator[Consequence]:
    """What becomes of the jobs of a schedule that carries them over its change."""
    if state.waiting > state.kept_jobs:
        yield Consequence(kind="discards", count=state.waiting - state.kept_jobs, detail="D-UPDATED")
    others = state.kept_jobs - state.by_hand
    modes = (before.on_suspend, coming.on_suspend)
    switched = state.status == "suspended" and modes[0] != modes[1] and others > 0
    given_up = others if switched and coming.on_suspend == "discard" else 0
    if given_up:
        yield Consequence(kind="discards", count=given_up, detail="D-SUSPENDED")
    if state.kept_jobs > given_up:
        events = state.by_hand_events if given_up else state.kept_events
        yield Consequence(kind="carries", count=state.kept_jobs - given_up, events=events)
    held_before, held_after = (mode in ("hold", "backlog") for mode in modes)
    if switched and not given_up and held_before != held_after:
        yield Consequence(kind="holds" if held_after else "lets_go", count=others)
    if state.pending_launch:
        yield Consequence(kind="launches", count=state.pending_launch)

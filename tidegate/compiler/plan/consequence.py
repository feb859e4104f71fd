"""What the change of a schedule does to something live: its jobs, its runs, its status.

Pure. `compiler.plan.diff` says what changes. What that means for each job is decided by the engine
(`scheduler.decision.fate`), counted by `scheduler.commands.live` as an `Effect`, and listed here.
"""

from collections.abc import Iterator
from typing import Literal

from tidegate.domain.model import Schedule
from tidegate.domain.value import Value

Action = Literal["create", "replace", "amend", "delete", "unchanged", "kept"]
"""`amend` changes a description or an owner and resets nothing; `kept` would be changed with updating on."""


class Effect(Value, kw_only=True):
    """What a change does to what a deployed schedule has going on, in numbers.

    Attributes:
        discarded: how many jobs, by reason code, in the order in which they are listed.
        carried, carried_events: waiting jobs that keep events, and how many events.
        held, released: those of them that are held, or held no longer.
        launches: jobs whose launch is decided and goes on as decided, though no run exists yet.
        active_runs: runs that exist and have not ended.
    """

    status: Literal["active", "suspended"] = "suspended"
    discarded: dict[str, int] = {}
    carried: int = 0
    carried_events: int = 0
    held: int = 0
    released: int = 0
    launches: int = 0
    active_runs: int = 0


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


def consequences(action: Action, coming: Schedule | None, effect: Effect) -> Iterator[Consequence]:
    """List what becomes of what a schedule has going on.

    Args:
        coming: as it is wanted.
    """
    if action == "create" and coming is not None:
        yield Consequence(kind="starts", detail=coming.status)
    if action not in ("replace", "delete"):
        return
    for reason, count in effect.discarded.items():
        yield Consequence(kind="discards", count=count, detail=reason)
    if effect.carried:
        yield Consequence(kind="carries", count=effect.carried, events=effect.carried_events)
    if effect.held:
        yield Consequence(kind="holds", count=effect.held)
    if effect.released:
        yield Consequence(kind="lets_go", count=effect.released)
    if effect.launches:
        yield Consequence(kind="launches", count=effect.launches)
    if effect.active_runs:
        yield Consequence(kind="leaves", count=effect.active_runs)
    if action == "replace":
        yield Consequence(kind="keeps", detail=effect.status)

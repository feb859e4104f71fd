"""The consequences of a changed schedule for its jobs, its runs and its status.

`compiler.plan.diff` finds the changes. The engine decides about each job (`scheduler.decision.changes.fate`),
`scheduler.commands.deployment.live` counts the decisions as an `Effect`, and this module lists them.
"""

from collections.abc import Iterator
from typing import Literal

from tidegate.domain.model import Schedule
from tidegate.domain.value import Value

Action = Literal["create", "replace", "amend", "delete", "unchanged", "kept"]
"""`amend` changes only a description, an owner, alerts or retries and resets nothing; `kept` would change
with updating on."""


class Effect(Value, kw_only=True):
    """The numbers of jobs and runs of a deployed schedule that a change affects.

    Attributes:
        discarded: number of discarded jobs by reason code, in the order of the output.
        carried, carried_events: number of waiting jobs that keep events, and number of these events.
        dropped_events: number of events that carried jobs lose.
        again: the instances of a task that are made again, by the names of their scheduled times.
        made: those that are made besides, since the days have begun in its new zone.
        at_once, skipped: by name, the fires of a cron whose times are over in its new zone, and those that
            have happened in the former one.
        gone: number of its instances for which it has no time any more.
        held, released: number of carried jobs that become held, or are released.
        launches: jobs whose launch is decided and continues, although no run exists yet.
        active_runs: runs that have not ended.
    """

    status: Literal["active", "suspended"] = "suspended"
    discarded: dict[str, int] = {}
    carried: int = 0
    carried_events: int = 0
    dropped_events: int = 0
    again: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    at_once: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    gone: int = 0
    held: int = 0
    released: int = 0
    launches: int = 0
    active_runs: int = 0


class Consequence(Value, kw_only=True):
    """One consequence of a change.

    Attributes:
        kind: the change `discards` jobs, makes instances of a task again (`makes`) or for days that
            have begun in its new zone (`begins`) or takes them away (`takes`), lets a cron in another zone
            fire at once (`fires`) or not again (`skips`), `carries` jobs with their events, `drops` other
            events, `holds` or releases (`lets_go`) jobs of a suspended schedule, continues decided
            `launches`, `leaves` active runs alone, or the schedule `starts` or `keeps` a status. What it
            repairs from now on `reruns` schedules with keys, `adds` to those without, and programs that only
            read it (`reads`) do not run again.
        count: number of jobs or runs.
        events: number of events that carried jobs keep, or lose.
        detail: the reason code of a discard, or the status.
        names: the scheduled times of these instances, or fires; or the schedules or programs.
    """

    kind: Literal[
        "discards",
        "makes",
        "begins",
        "fires",
        "skips",
        "takes",
        "carries",
        "drops",
        "holds",
        "lets_go",
        "launches",
        "leaves",
        "starts",
        "keeps",
        "reruns",
        "adds",
        "reads",
    ]
    count: int = 0
    events: int = 0
    detail: str = ""
    names: tuple[str, ...] = ()


def consequences(action: Action, wanted: Schedule | None, effect: Effect) -> Iterator[Consequence]:
    """Yield the consequences of a change of a schedule.

    Args:
        wanted: the schedule after the change; None if it is deleted.
    """
    if action == "create" and wanted is not None:
        yield Consequence(kind="starts", detail=wanted.status)
    if action not in ("replace", "delete"):
        return
    for reason, count in effect.discarded.items():
        yield Consequence(kind="discards", count=count, detail=reason)
    found = (
        Consequence(kind="makes", count=len(effect.again), names=effect.again),
        Consequence(kind="begins", count=len(effect.made), names=effect.made),
        Consequence(kind="fires", count=len(effect.at_once), names=effect.at_once),
        Consequence(kind="skips", count=len(effect.skipped), names=effect.skipped),
        Consequence(kind="takes", count=effect.gone),
        Consequence(kind="carries", count=effect.carried, events=effect.carried_events),
        Consequence(kind="drops", events=effect.dropped_events),
        Consequence(kind="holds", count=effect.held),
        Consequence(kind="lets_go", count=effect.released),
        Consequence(kind="launches", count=effect.launches),
        Consequence(kind="leaves", count=effect.active_runs),
    )
    yield from (each for each in found if each.count or (each.kind == "drops" and each.events))
    if action == "replace":
        yield Consequence(kind="keeps", detail=effect.status)

"""A trigger in YAML and what comes for its leaves: the rows of the tables in this folder.

A leaf is named by its path: "" is the trigger itself, "0" its first member, "1.0" the first member of
its second. Times are as on a clock, see `tests.worlds.world.at`.
"""

from tests.scheduler.triggers.collecting import collected
from tests.worlds.world import app_of, at
from tidegate.domain.model import Trigger
from tidegate.scheduler.decision.triggers import dropped, evaluate
from tidegate.scheduler.decision.triggers.collected import Collected
from tidegate.scheduler.model.event import Delivery, Event, EventKind
from tidegate.scheduler.model.verdict import Verdict

Came = tuple[str, str, str, int | None]


def came(clock: str, path: str = "", key: str = "", size: int | None = None) -> Came:
    """What a leaf has received, in the order in which it is written down."""
    return clock, path, key, size


def trigger_of(text: str) -> Trigger:
    return app_of(f"s: {{program: q, status: active, trigger: {text}}}").schedules["s"].trigger


def collection(arrivals: list[Came]) -> Collected:
    """What a job has collected."""
    deliveries: list[Delivery] = []
    for number, (clock, path, key, size) in enumerate(arrivals):
        event = Event(
            id=f"e{number:02}",
            kind=EventKind.FIRE,
            key="any",
            time=at(clock),
            arrived=at(clock),
            partition=key,
            bytes=size,
            rows=size,
        )
        deliveries.append(Delivery(event=event, schedule="a/s", leaf=path, job="j", at=at(clock)))
    return collected(
        deliveries, app_of("s: {program: q, status: active, trigger: {run: {program: r}}}").datasets
    )


def verdict(trigger: str, arrivals: list[Came], look: str) -> Verdict:
    return evaluate(trigger_of(trigger), collection(arrivals), at(look))


def dropped_at(trigger: str, arrivals: list[Came], look: str) -> list[str]:
    """When what is dropped had arrived, on the clock."""
    gone = dropped(trigger_of(trigger), collection(arrivals), at(look))
    return [f"{delivery.event.arrived:%H:%M}" for delivery in gone]

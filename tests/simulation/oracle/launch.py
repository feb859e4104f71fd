"""What must hold at the instant at which a launch is decided, decided apart from the engine's checks.

Constraints come as plain JSON. A timeout or a person may override a wait, and the entry must name
it then; nothing overrides concurrency.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

import msgspec

from tests.doubles.naive_window import naive_inside
from tests.simulation.knowledge import JobSeen, Knowledge


@dataclass(frozen=True)
class Launch:
    """A decided launch.

    Attributes:
        since: when its trigger was satisfied.
        overridden: the codes of the waits that were overridden.
    """

    job: str
    program: str
    at: datetime
    since: datetime
    first_event: datetime | None
    overridden: frozenset[str]


def coming(job: JobSeen, program: str, at: datetime, overridden: Iterable[str] = ()) -> Launch:
    """The launch of a job at an instant."""
    assert job.since is not None, "legal states: launched before its trigger was satisfied"
    arrivals = [datetime.fromisoformat(data["arrived"]) for data in job.events.values()]
    return Launch(
        job=job.id,
        program=program,
        at=at,
        since=job.since,
        first_event=min(arrivals, default=None),
        overridden=frozenset(overridden),
    )


def check_launch(known: Knowledge, launch: Launch, constraints: list[dict[str, Any]]) -> None:
    """Every constraint holds, or was overridden by name."""
    for constraint in constraints:
        match constraint["kind"]:
            case "concurrency":
                resource = _resource(constraint, launch.program)
                active, most = len(known.holders[resource]), constraint["max"]
                assert active <= most, f"limits: {active} of {most} active in {resource}"
            case "load":
                assert "W-LOAD" in launch.overridden or not _overloaded(known, constraint), (
                    f"limits: the load of {constraint}"
                )
            case "rate":
                per = duration(constraint["per"])
                recent = [at for at, _ in known.launches[launch.program] if launch.at - per < at <= launch.at]
                assert "W-RATE" in launch.overridden or len(recent) <= constraint["max"], (
                    f"limits: {len(recent)} launches within {per}, {constraint['max']} may be"
                )
            case "delay":
                start = launch.since
                if constraint["from"] == "first_event" and launch.first_event is not None:
                    start = launch.first_event
                over = launch.at >= start + duration(constraint["for"])
                assert over or "W-DELAY" in launch.overridden, "launched before its delay was over"
            case "window":
                opens, closes = time.fromisoformat(constraint["from"]), time.fromisoformat(constraint["to"])
                inside = naive_inside(launch.at, opens, closes, constraint["timezone"], constraint["days"])
                assert inside or "W-WINDOW" in launch.overridden, "launched outside its window"
            case "since_last_run":
                _check_last_run(known, launch, constraint)
            case other:
                raise AssertionError(f"an unknown constraint: {other}")


COUNTING = ("concurrency", "load", "rate", "since_last_run")


def check_again(known: Knowledge, launch: Launch, spec: dict[str, Any], by_hand: str | None) -> None:
    """A launch whose requests were rejected is offered again: no limit that counts runs is passed."""
    forced = by_hand == "force" or spec["timeout"]["then"] == "run"
    asked = ("concurrency",) if forced else COUNTING
    check_launch(known, launch, [each for each in spec["constraints"] if each["kind"] in asked])


def may_go(known: Knowledge, launch: Launch, constraints: list[dict[str, Any]]) -> bool:
    """Whether every constraint that waits would hold if this job were launched."""
    resources = {_resource(each, launch.program) for each in constraints if each["kind"] == "concurrency"}
    mine = [known.holders[name] for name in {"runs", *resources}]
    known.launches[launch.program].append((launch.at, launch.job))
    for holders in mine:
        holders.add(launch.job)
    try:
        check_launch(known, launch, [each for each in constraints if each["otherwise"] == "wait"])
    except AssertionError:
        return False
    finally:
        known.launches[launch.program].pop()
        for holders in mine:
            holders.discard(launch.job)
    return True


def duration(text: str) -> timedelta:
    """A duration as the journal spells it (ISO 8601)."""
    return msgspec.convert(text, timedelta)


def _resource(constraint: dict[str, Any], program: str) -> str:
    group = constraint["group"]
    return f"program:{program}" if group is None else f"group:{group}"


def _overloaded(known: Knowledge, constraint: dict[str, Any]) -> bool:
    if constraint["max_active_runs"] is not None:
        return len(known.holders["runs"]) > constraint["max_active_runs"]
    return known.gauges.get(constraint["gauge"], constraint["max"]) > constraint["max"]


def _check_last_run(known: Knowledge, launch: Launch, constraint: dict[str, Any]) -> None:
    if "W-LAST-RUN" in launch.overridden:
        return
    others = known.holders[f"program:{launch.program}"] - {launch.job}
    assert not others, f"launched while {sorted(others)} was active"
    runs = known.successes[launch.program]
    if runs:
        begun = max(known.started.get(run, ended) for run, ended in runs.items())
        last = begun if constraint["measured_from"] == "start" else max(runs.values())
        assert launch.at >= last + duration(constraint["for"]), f"launched too soon after {last}"

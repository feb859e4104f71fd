"""Schedules and tasks as all faces show them, and the lists of them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from itertools import product
from typing import Any

from msgspec import UNSET

from tidegate.compiler.render.written import written_schedule
from tidegate.compiler.triggers import KINDS
from tidegate.domain.error import WrongUsage
from tidegate.domain.model import leaves
from tidegate.domain.part_name import whole_name
from tidegate.listings.read import Asked
from tidegate.listings.schedules import ListedSchedule, Schedule
from tidegate.scheduler.explain.overrides import override_line
from tidegate.scheduler.model import deployed
from tidegate.scheduler.model.deployed import APPS, TASK_KIND, ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, run_event_key
from tidegate.scheduler.model.job import WAITING
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.store.engine_reader import EngineReader

TriggerType = StrEnum("TriggerType", [(kind.upper(), kind) for kind in (*KINDS, TASK_KIND)])
"""The root of a trigger, or that it is a task."""


class Status(StrEnum):
    """The status of a schedule; the first two are the same."""

    ACTIVE = "active"
    SCHEDULED = "scheduled"
    SUSPENDED = "suspended"

    @property
    def stored(self) -> deployed.Status:
        """As the store has it."""
        return "suspended" if self is Status.SUSPENDED else "active"


class RunStatus(StrEnum):
    """What a run has come to, for triggers."""

    STARTED = "started"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    COMPLETED = "completed"


def public_schedule(namespace: str, state: ScheduleState) -> Schedule:
    """Return what of a schedule or task all faces show."""
    return Schedule(**_fields(namespace, state))


def list_schedules(asked: Asked) -> list[ListedSchedule]:
    """Return the first schedules that match.

    Raises:
        WrongUsage: no app has the program.
    """
    wanted, found = asked.wanted, list[ScheduleState]()
    if "program" in wanted:
        _check_program(asked, wanted["program"])
    kinds = wanted.get("trigger-type", (None,))
    statuses = dict.fromkeys(each.stored for each in wanted.get("schedule-status", ())) or (None,)
    # An app after the other is their order too: what follows enough of them is of a later page.
    for app in (None,) if asked.apps is None else sorted(asked.apps):
        for kind, status in product(kinds, statuses):
            found += asked.reader.schedules(
                app=app,
                program=wanted.get("program"),
                kind=kind,
                status=status,
                after=None if asked.after is None else asked.after[0],
                limit=asked.limit,
            )
        if len(found) >= asked.limit:
            break
    first = sorted(found, key=lambda state: state.ref)[: asked.limit]
    return listed_schedules(asked.reader, first, asked.source.now, asked.scope.namespace)


def list_triggered(asked: Asked) -> list[ListedSchedule]:
    """Return the schedules that wait for runs of a program.

    Raises:
        WrongUsage: a part of the name of the program is missing.
    """
    wanted = asked.wanted
    app, program = wanted.get("trigger-app-name"), wanted.get("trigger-program-name")
    if not app or not program:
        raise WrongUsage("trigger-app-name and trigger-program-name are needed")
    statuses = wanted.get("trigger-program-statuses") or tuple(RunStatus)
    keys = [run_event_key(app, program, status) for status in statuses]
    states = asked.reader.schedules(
        refs={each.schedule for each in asked.reader.records(SUBSCRIPTIONS, event_key=keys)}
    )
    found = [
        each for each in states if asked.sees(each.app) and _waits_for(each, f"{app}/{program}", statuses)
    ]
    return listed_schedules(asked.reader, found, asked.source.now, asked.scope.namespace)


def _check_program(asked: Asked, name: str) -> None:
    apps = asked.reader.records(APPS) if asked.apps is None else asked.reader.records(APPS, name=asked.apps)
    known = sorted({program for each in apps for program in each.app.programs})
    if name not in known:
        raise WrongUsage(f"program has the unknown value {name!r:.100}", f"one of {', '.join(known)}")


def _waits_for(state: ScheduleState, program: str, statuses: Sequence[str]) -> bool:
    collected = (leaf.trigger for leaf in leaves(state.spec.trigger) if leaf.trigger.program_collected)
    heard = (trigger.runs_heard(state.spec.program) for trigger in collected)
    return any(
        whole_name(state.app, runs[0]) == program and runs[1] in statuses
        for runs in heard
        if runs is not None
    )


def listed_schedules(
    reader: EngineReader, states: Sequence[ScheduleState], now: datetime, namespace: str = ""
) -> list[ListedSchedule]:
    """Return what of schedules and tasks lists show.

    Args:
        namespace: of all of them; "" for that of the deployment of each.
    """
    refs = [state.ref for state in states]
    waiting = Counter(job.schedule for job in reader.jobs(schedules=refs, states=WAITING))
    overrides = defaultdict[str, list[str]](list)
    for each in reader.records(OVERRIDES, ref=refs):
        overrides[each.ref].append(override_line(each))
    namespaces = {each.name: each.namespace for each in reader.app_headers()}
    return [
        ListedSchedule(
            **_fields(namespace or namespaces[state.app], state),
            ref=state.ref,
            trigger_type=state.spec.trigger.kind,
            trigger_text=state.spec.trigger.one_line(),
            next_fire_at=state.next_start(now),
            zone=state.spec.timezone,
            waiting_jobs=waiting[state.ref],
            overrides=tuple(overrides[state.ref]),
            changed_by=state.changed_by,
            active_since=state.active_since,
            deployed_at=state.deployed_at,
        )
        for state in states
    ]


def _fields(namespace: str, state: ScheduleState) -> dict[str, Any]:
    return {
        **written_schedule(state.spec),
        "namespace": namespace,
        "app": state.app,
        "name": state.name,
        "status": state.status,
        "revision": state.revision,
        "source": state.source,
        "suspended_at": UNSET if state.active else state.suspended_at,
    }

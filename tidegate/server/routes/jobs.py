"""Jobs: a list in pages, one in full, why it waits, and what people do to it."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from tidegate.scheduler.commands.by_hand.force import check_force, force
from tidegate.scheduler.commands.by_hand.manual import cancel, check_cancel
from tidegate.scheduler.explain.history import NEWEST_MAX
from tidegate.scheduler.explain.names import find_schedule
from tidegate.scheduler.explain.shown_job import shown_job
from tidegate.scheduler.explain.why import explain
from tidegate.scheduler.launch.dead_letter import check_requeue, check_retry, requeue, retry
from tidegate.scheduler.model.job import Job, JobState
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.reason import Reason
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.parts.pages import JobsWanted
from tidegate.scheduler.store.protocol import Reader, Transaction
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import ANY_OBJECT, contract, json_answer, listed, page_of
from tidegate.server.instants import instant_of
from tidegate.server.page import Page, WholeNumber, before_instant, instant_key
from tidegate.server.problem import Problem, one_of, refused_as
from tidegate.server.routes.schedules import REASON, Reasoned
from tidegate.server.routes.why import TREES, explain_as_json
from tidegate.server.service import Here, Service
from tidegate.server.visible import name_seen, named, visible_apps, visible_job

router = APIRouter(prefix="/jobs", tags=["jobs"])

Act = Callable[[Transaction, str, datetime, By], Job]

Newest = Annotated[
    int,
    WholeNumber,
    Query(ge=1, le=NEWEST_MAX, description="How many events and entries of its history, the newest of each."),
]

Check = Callable[[Reader, Job, datetime], None]

ACTIONS: dict[str, tuple[Act, Check]] = {
    "force": (force, check_force),
    "cancel": (cancel, check_cancel),
    "retry": (retry, check_retry),
    "requeue": (requeue, check_requeue),
}
"""The actions of people, each with what refuses it."""


@router.get("", dependencies=[READ], **contract(page_of(ANY_OBJECT)))
def list_jobs(
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
    state: Annotated[str, Query(description="A state of a job, in either case.")] = "",
    schedule: Annotated[str, Query(description='"app/schedule", or its name if one app has it.')] = "",
    reason: Annotated[str, Query(description="A reason code, such as W-WINDOW.")] = "",
) -> Response:
    """List jobs, the newest first."""
    return listed(*jobs_page(service, caller, page, state, schedule, reason))


def jobs_page(
    service: Service,
    caller: Caller,
    page: Page,
    state: str,
    schedule: str,
    reason: str,
    since: str = "",
    ended: str = "",
) -> tuple[list[Job], str | None]:
    """Return a page of the jobs that match all given filters, and the cursor of the next one.

    Args:
        since: of those only that were opened at this instant or later.
        ended: of those only that ended at this instant or later.

    Raises:
        Problem: 400, a filter has an unknown value.
    """
    wanted_state = None if not state else one_of(JobState, state.upper(), "state")
    wanted_reason = None if not reason else one_of(Reason, reason.upper(), "reason")
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
        found = reader.newest_jobs(
            JobsWanted(
                apps=apps,
                schedule=_schedule(service, reader, caller, schedule),
                state=wanted_state,
                reason=wanted_reason,
                since=instant_of("since", since) if since else None,
                ended_since=instant_of("ended", ended) if ended else None,
                before=before_instant(page),
            ),
            page.limit + 1,
        )
    return page.cut(list(found), lambda job: instant_key(job.opened_at, job.id))


@router.get("/{id}", dependencies=[READ], **contract(ANY_OBJECT))
def show_job(id: str, service: Here, caller: Called, newest: Newest = NEWEST_MAX) -> Response:
    """Show a job, its attempts, and the newest of its collected events and of its history."""
    with service.store.reading() as reader:
        return json_answer(shown_job(reader, visible_job(service, reader, caller, id), newest).json)


@router.get("/{id}/why", dependencies=[READ], **contract(TREES))
def why_job(id: str, service: Here, caller: Called) -> Response:
    """Explain what a job waits for."""
    with service.store.reading() as reader:
        visible_job(service, reader, caller, id)
    return explain_as_json(service, lambda reader, now: explain(reader, id, now), None)


@router.post(
    "/{id}/{action}",
    dependencies=[OPERATE],
    **contract(ANY_OBJECT, body=REASON, optional=True, errors=(409,), example={"reason": "wrong input"}),
)
def act_on_job(
    id: str,
    action: str,
    service: Here,
    caller: Called,
    body: Annotated[dict[str, Any], Depends(read_optional)],
) -> Response:
    """Cancel a job, queue a dead letter again, retry a failed job, or force a waiting one."""
    if action not in ACTIONS:
        raise Problem(400, f"there is no action {action!r:.100}", hint=f"one of {', '.join(ACTIONS)}")
    by = caller.by(as_form(body, Reasoned).reason)
    with service.store.transaction() as transaction:
        visible_job(service, transaction, caller, id)
        with refused_as(409), named():
            act, _ = ACTIONS[action]
            changed = act(transaction, id, service.clock(), by)
    return json_answer({"job": changed})


def allowed_actions(reader: Reader, job: Job, now: datetime) -> tuple[str, ...]:
    """Return the actions that would not be refused now."""
    found: list[str] = []
    for name, (_, check) in ACTIONS.items():
        with suppress(Refused):
            check(reader, job, now)
            found.append(name)
    return tuple(found)


def _schedule(service: Service, reader: Reader, caller: Caller, name: str) -> str | None:
    """Return the ref by which jobs are listed: of a schedule that is deployed, or that has left jobs."""
    if not name:
        return None
    with named(unknown=400, ambiguous=400):
        name = name_seen(reader, caller, name)
        if "/" in name and reader.newest_jobs(JobsWanted(schedule=name), 1):
            return name
        return find_schedule(reader, name, visible_apps(service, reader, caller)).ref

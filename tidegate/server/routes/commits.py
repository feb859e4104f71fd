"""Withheld publishes: one in full, its release and its end; the list is `listings.commits`.

    POST /commits/{commit}/release   its rows become visible, if they are still what was judged
    POST /commits/{commit}/abandon   readers never see its rows; the next attempt of its job has the same id

Of two people one succeeds, and the other one is refused with E-STATE. A release is the put that a failed
check has prevented. What can be known of tables only with Spark is asked of it, in the process of the server.
"""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.published import PublishedPartition
from tidegate.domain.value import Value
from tidegate.listings.withheld_publish import ShownWithheld, shown_withheld
from tidegate.processes.commit_context import commit_context, own_datasets
from tidegate.scheduler.model.journal import By
from tidegate.scheduler.model.work_of_job import work_of_commit
from tidegate.scheduler.store.commits.noted import Note, NotedAction, notes_of
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.open import noting_commits_of
from tidegate.server.access import OPERATE, READ, Called, Caller
from tidegate.server.body import as_form, read_optional
from tidegate.server.contract import contract, json_answer
from tidegate.server.problem import Problem
from tidegate.server.routes.schedules import REASON
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/commits", tags=["records"])

LOG = logging.getLogger("tidegate.server")

STATE = "E-STATE"


class Decided(Value, kw_only=True, forbid_unknown_fields=True):
    """The body of a release or an abandonment."""

    reason: str = ""


class ReleasedCommit(Value, kw_only=True):
    """A withheld publish that a person has released.

    Attributes:
        commit: its id.
        finished: whether readers see its rows; otherwise it is promised, and recovery finishes it.
        detail: why it is not finished yet; "" if it is.
        partitions: that it has published.
    """

    commit: str
    finished: bool
    detail: str = ""
    partitions: tuple[PublishedPartition, ...] = ()


class AbandonedPublish(Value, kw_only=True):
    """A withheld publish that a person has abandoned.

    Attributes:
        commit: its id.
        datasets: whose readers will not see its rows.
    """

    commit: str
    datasets: tuple[str, ...]


@router.post(
    "/{commit:path}/release",
    dependencies=[OPERATE],
    **contract(
        ReleasedCommit, body=REASON, optional=True, errors=(409,), example={"reason": "the nulls are right"}
    ),
)
def release_commit(
    commit: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Publish what a failed check withholds, unless its rows could be other ones than were judged."""
    return json_answer(released(service, caller, commit, as_form(body, Decided).reason))


@router.post(
    "/{commit:path}/abandon",
    dependencies=[OPERATE],
    **contract(AbandonedPublish, body=REASON, optional=True, errors=(409,), example={"reason": "wrong rows"}),
)
def abandon_commit(
    commit: str, service: Here, caller: Called, body: Annotated[dict[str, Any], Depends(read_optional)]
) -> Response:
    """Abandon what a failed check withholds; its job can be run again."""
    return json_answer(abandoned(service, caller, commit, as_form(body, Decided).reason))


@router.get("/{commit:path}", dependencies=[READ], **contract(ShownWithheld))
def show_commit(commit: str, service: Here, caller: Called) -> Response:
    """Show a withheld publish with what each check has found, and up to five keys of rows that break it."""
    with service.store.reading() as reader:
        return json_answer(visible_withheld(service, reader, caller, commit))


def visible_withheld(service: Service, reader: ListingReader, caller: Caller, commit: str) -> ShownWithheld:
    """Return a withheld publish of the namespace.

    Raises:
        Problem: 404 for an unknown commit, 403 for one of another app than the token's, 409 (E-STATE) for one
            that is not withheld, or not any more.
    """
    found = shown_withheld(reader, commit)
    if found is None:
        job = next(iter(reader.jobs(ids=(work_of_commit(commit).job,))), None)
        apps = set[str]() if job is None else {job.app}
    else:
        apps = {app_of(ref) for ref in found.datasets}
    for app in sorted(apps):
        caller.check_app(app)
    seen = visible_apps(service, reader, caller)
    hidden = seen is not None and not apps <= seen
    if hidden or (found is None and not apps and not _is_known(service, reader, commit)):
        raise Problem(404, f'there is no commit "{commit:.200}"', hint="`tidegate commits list`")
    if found is None:
        was = "it was released, abandoned or replaced, or never was"
        raise _refused(f"commit {commit} is not withheld: {was}", "`tidegate commits list`")
    return found


def released(service: Service, caller: Caller, commit: str, reason: str) -> ReleasedCommit:
    """Release a withheld publish.

    Raises:
        Problem: see `visible_withheld`; 409 (E-STATE) if it cannot be released.
    """
    from tidegate.spark_jobs.errors import SparkJobError, WithheldRefused

    with spark_or_refusal():
        from tidegate.spark_jobs.publication.release import release_withheld

    _, core = _decided(service, caller, commit, NotedAction.RELEASE, reason)
    try:
        parts = release_withheld(commit, **core)
    except WithheldRefused as error:
        raise _refused(error.message, error.hint) from error
    except SparkJobError as error:
        LOG.warning("commit %s is released and not finished: %s", commit, error)
        return ReleasedCommit(commit=commit, finished=False, detail=error.message)
    return ReleasedCommit(commit=commit, finished=True, partitions=tuple(parts))


def abandoned(service: Service, caller: Caller, commit: str, reason: str) -> AbandonedPublish:
    """Abandon a withheld publish.

    Raises:
        Problem: see `visible_withheld`; 409 (E-STATE) if another person was faster.
    """
    from tidegate.spark_jobs.errors import WithheldRefused

    with spark_or_refusal():
        from tidegate.spark_jobs.publication.release import abandon_withheld

    publish, core = _decided(service, caller, commit, NotedAction.ABANDON, reason)
    try:
        abandon_withheld(commit, **core)
    except WithheldRefused as error:
        raise _refused(error.message, error.hint) from error
    except OSError as error:
        LOG.warning("the staging of commit %s could not be removed: %s", commit, error)
    return AbandonedPublish(commit=commit, datasets=publish.datasets)


@contextmanager
def spark_or_refusal() -> Generator[None]:
    """Import what loads Spark inside this block; a server without it decides about no publish.

    Raises:
        Problem: 409 (E-STATE), Spark is not installed.
    """
    from tidegate.spark_jobs.errors import SparkMissing, needs_spark

    try:
        with needs_spark():
            yield
    except SparkMissing as error:
        raise _refused(error.message, error.hint) from error


def _decided(
    service: Service, caller: Caller, commit: str, action: NotedAction, reason: str
) -> tuple[ShownWithheld, dict[str, Any]]:
    """Return a withheld publish, and what the core of its release takes, for a caller who may do it."""
    from tidegate.project.spark import warehouse

    with service.store.reading() as reader:
        publish = visible_withheld(service, reader, caller, commit)
        refs = own_datasets(reader, service.settings)
    by: By = caller.by(reason.strip())
    commits = noting_commits_of(service.store, Note(action=action, by=by), service.clock)
    return publish, {
        "store": commits,
        "warehouse": warehouse(service.settings),
        "context": commit_context(service.settings, service.store, commits, service.clock, LOG.warning),
        "refs": refs,
    }


def _refused(message: str, hint: str) -> Problem:
    return Problem(409, f"{STATE}: {message}", hint=hint, code=STATE)


def _is_known(service: Service, reader: ListingReader, commit: str) -> bool:
    """Return whether the store has heard of a commit that is not withheld."""
    if service.commits.tokens([commit]):
        return True
    return bool(notes_of(reader, commit))

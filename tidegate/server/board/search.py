"""*Find*: one search over names, for the palette and for a page, and the page of a code.

    GET /v3/namespaces/{ns}/search?q=     what the palette shows
    GET /board/search?q=                  the same as a page, for a browser without scripts

It reads the refs of schedules from their index, the deployed specifications, and jobs by the index of their
ids: never what jobs are about. What has failed comes first.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Query, Request, Response

from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value
from tidegate.scheduler.explain.codes import near, registry
from tidegate.scheduler.model.job import SHORT_DIGITS, JobState, hash_of
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.server.access import READ, Called
from tidegate.server.board.page import PageRoute, page
from tidegate.server.board.rendering import PAGES, job_path
from tidegate.server.caller import Caller
from tidegate.server.contract import contract, json_answer
from tidegate.server.deployed import deployed_apps
from tidegate.server.problem import Problem
from tidegate.server.service import Here, Service
from tidegate.server.visible import visible_apps

router = APIRouter(prefix="/board", route_class=PageRoute, include_in_schema=False)
api = APIRouter(tags=["search"])

MOST = 20
"""Matches of an answer."""

SHARE = 6
"""Matches of one kind, as long as others fill the answer."""

LOOKED_AT = 60
"""Schedules with a matching name of which the newest jobs are read; those in the worst state come first."""

LETTERS_MAX = 100

HASH_BEGINS = re.compile(rf"[0-9a-f]{{{SHORT_DIGITS},}}")
"""The beginning of the hash in the id of a job; a shorter text may be meant for anything."""

Kind = Literal["job", "schedule", "task", "dataset", "code", "page"]


class Match(Value, kw_only=True):
    """Something whose name matches.

    Attributes:
        kind: job, schedule, task, dataset, code or page.
        name: of a job its id; "app/name" of a schedule, a task and a dataset.
        state: of a job; of a schedule and a task that of its newest job, or SUSPENDED; null for any other.
        note: what it is about, in a few words.
        page: its address on the board.
    """

    kind: Kind
    name: str
    state: str | None = None
    note: str = ""
    page: str


class Found(Value, kw_only=True):
    """What a search has found.

    Attributes:
        q: what was looked for; each of its words is in a name that matches.
        items: at most 20, kind by kind; what has failed comes first.
    """

    q: str
    items: tuple[Match, ...]


Q = Annotated[str, Query(max_length=LETTERS_MAX, description="Words that are in a name, or an id of a job.")]


@api.get("/search", dependencies=[READ], **contract(Found))
def search(service: Here, caller: Called, q: Q = "") -> Response:
    """Find schedules, tasks, datasets, jobs by id, codes and pages of the board by name."""
    return json_answer(find(service, caller, q))


@router.get("/search", dependencies=[READ])
def search_page(request: Request, service: Here, caller: Called, q: Q = "") -> Response:
    """Show what has a name, and all pages where nothing is looked for."""
    return page(request, service, "search", "Find", find(service, caller, q))


@router.get("/codes/{code}", dependencies=[READ])
def code_page(code: str, request: Request, service: Here) -> Response:
    """Show what a code means, what has led to it, and what to do."""
    known = registry()
    found = known.get(code.upper())
    if found is None:
        close = near(code, known)
        raise Problem(
            404, f"there is no code {code!r:.100}", hint=f"such as {', '.join(close)}" if close else ""
        )
    return page(request, service, "code", found.code, found)


def find(service: Service, caller: Caller, q: str) -> Found:
    """Return what a caller sees that matches; all pages if nothing is looked for."""
    words = q.casefold().split()
    if not words:
        return Found(q=q, items=tuple(_pages(words)))
    with service.store.reading() as reader:
        groups = (
            _jobs(service, reader, caller, q.strip()),
            _schedules(service, reader, caller, words),
            _datasets(service, reader, caller, words),
            list(islice(_codes(words), MOST)),
            list(_pages(words)),
        )
    left = MOST - sum(min(len(each), SHARE) for each in groups)
    items: list[Match] = []
    for each in groups:
        more = max(0, min(len(each) - SHARE, left))
        left -= more
        items += each[: SHARE + more]
    return Found(q=q, items=tuple(items[:MOST]))


def _matches(words: Iterable[str], *texts: str) -> bool:
    text = " ".join(texts).casefold()
    return all(word in text for word in words)


def _jobs(service: Service, reader: ListingReader, caller: Caller, q: str) -> list[Match]:
    digits = q.rpartition("-")[2]
    if not HASH_BEGINS.fullmatch(digits):
        return []
    apps = visible_apps(service, reader, caller)
    # The first digits are looked up in an index of their own, the jobs by their ids.
    alike = reader.jobs(hashes=[digits[:SHORT_DIGITS]], apps=apps)
    found = [job for job in alike if job.id == q or hash_of(job.id).startswith(q)]
    ordered = sorted(found, key=lambda job: (job.state is not JobState.FAILED, job.id))
    return [
        Match(
            kind="job",
            name=job.id,
            state=job.state,
            note=f"{job.schedule} {job.key}".strip(),
            page=job_path(job.id),
        )
        for job in ordered[:MOST]
    ]


def _schedules(service: Service, reader: ListingReader, caller: Caller, words: list[str]) -> list[Match]:
    apps = visible_apps(service, reader, caller)
    seen = (ref for ref in reader.schedule_refs() if apps is None or app_of(ref) in apps)
    refs = list(islice((ref for ref in seen if _matches(words, ref)), LOOKED_AT))
    newest = {}
    for each in reader.newest_jobs(refs):
        if each.schedule not in newest or each.opened_at > newest[each.schedule].opened_at:
            newest[each.schedule] = each
    states = {ref: newest[ref].state if ref in newest else None for ref in refs}
    refs.sort(key=lambda ref: (states[ref] is not JobState.FAILED, ref))
    found = {each.ref: each for each in reader.schedules(refs=refs[:MOST])}
    return [
        Match(
            kind="schedule" if found[ref].spec.task is None else "task",
            name=ref,
            state=states[ref] if found[ref].active else found[ref].status.upper(),
            note=_line(found[ref].spec.description),
            page=f"/board/schedules/{quote(ref)}",
        )
        for ref in refs[:MOST]
        if ref in found
    ]


def _datasets(service: Service, reader: ListingReader, caller: Caller, words: list[str]) -> list[Match]:
    found = (
        Match(
            kind="dataset",
            name=f"{each.name}/{name}",
            note=_line(dataset.description),
            page=f"/board/datasets/{quote(each.name)}/{quote(name)}",
        )
        for each in deployed_apps(service, reader)
        if caller.sees(each.name)
        for name, dataset in sorted(each.app.datasets.items())
        if _matches(words, each.name, name)
    )
    return list(islice(found, MOST))


def _codes(words: list[str]) -> Iterator[Match]:
    for each in registry().values():
        if _matches(words, each.code, each.meaning):
            yield Match(kind="code", name=each.code, note=each.meaning, page=f"/board/codes/{each.code}")


def _pages(words: list[str]) -> Iterator[Match]:
    for path, name in PAGES:
        if _matches(words, name):
            yield Match(kind="page", name=name, page=path)


def _line(text: str) -> str:
    return text.strip().partition("\n")[0][:LETTERS_MAX]

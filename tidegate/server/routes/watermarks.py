"""Watermarks: how far incremental reads have come."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response

from tidegate.domain.part_name import app_of, whole_name
from tidegate.server.access import READ, Called, Caller
from tidegate.server.contract import contract, listed, page_of
from tidegate.server.deployed import check_name
from tidegate.server.page import Page
from tidegate.server.problem import Problem
from tidegate.server.service import Here, Service
from tidegate.server.visible import known_app, visible_apps
from tidegate.spark_jobs.commit.positions import IncrementalRead, Position, incremental_read, position_of

router = APIRouter(tags=["records"])

OfApp = Annotated[str, Query(description="Only those of this app.")]


@router.get("/watermarks", dependencies=[READ], **contract(page_of(IncrementalRead)))
def list_watermarks(
    service: Here, caller: Called, page: Annotated[Page, Depends(Page)], app: OfApp = ""
) -> Response:
    """List the incremental reads, by the program that reads, with the number of parts with a watermark."""
    apps = _apps(service, caller, app)
    pairs = [pair for pair in service.commits.followers() if _is_seen(pair[0], apps)]
    found, cursor = page.of(pairs, lambda pair: pair)
    return listed([incremental_read(service.commits, *pair) for pair in found], cursor)


@router.get(
    "/watermarks/{app}/{program}/{source_app}/{dataset}",
    dependencies=[READ],
    **contract(page_of(Position)),
)
def show_watermarks(
    app: str,
    program: str,
    source_app: str,
    dataset: str,
    service: Here,
    caller: Called,
    page: Annotated[Page, Depends(Page)],
) -> Response:
    """List the positions up to which a program has read the parts of a dataset."""
    for name in (app, program, source_app, dataset):
        check_name(name)
    consumer, source = whole_name(app, program), whole_name(source_app, dataset)
    with service.store.reading() as reader:
        apps = visible_apps(service, reader, caller)
    marks = service.commits.watermarks(consumer, source) if _is_seen(consumer, apps) else {}
    if not marks:
        raise Problem(404, f"{consumer} has no watermark in {source}")
    rows = [position_of(part, mark) for part, mark in marks.items()]
    return listed(*page.of(rows, lambda row: (row.part,)))


def _apps(service: Service, caller: Caller, app: str) -> frozenset[str] | None:
    """Return the apps of which a caller asks and sees something; None for all.

    Raises:
        Problem: 400 for an unknown app, 403 for one of another than the token's.
    """
    with service.store.reading() as reader:
        if app:
            return frozenset({known_app(service, reader, caller, app)})
        return visible_apps(service, reader, caller)


def _is_seen(consumer: str, apps: frozenset[str] | None) -> bool:
    return apps is None or app_of(consumer) in apps

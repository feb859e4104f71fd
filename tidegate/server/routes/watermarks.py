"""Watermarks: how far a program has read a dataset."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response

from tidegate.domain.part_name import app_of, whole_name
from tidegate.listings.queries.watermarks import positions_of
from tidegate.listings.watermarks import Position
from tidegate.server.access import READ, Called
from tidegate.server.contract import contract, listed, page_of
from tidegate.server.deployed import check_name
from tidegate.server.page import Page
from tidegate.server.problem import Problem
from tidegate.server.service import Here
from tidegate.server.visible import visible_apps

router = APIRouter(tags=["records"])


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
    is_seen = apps is None or app_of(consumer) in apps
    marks = service.commits.watermarks(consumer, source) if is_seen else {}
    if not marks:
        raise Problem(404, f"{consumer} has no watermark in {source}")
    return listed(*page.of(positions_of(marks), Position, "part"))

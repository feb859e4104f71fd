"""Lists over HTTP: the route of a listing, with its filters as parameters and its items as the answer."""

import inspect
from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request, Response
from pydantic import BeforeValidator

from tidegate.listings.listing import Filter, Listing, NotInScope, Scope, load
from tidegate.listings.read import Rows, Source, read
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import Called, Caller, needs
from tidegate.server.contract import contract, json_answer, page_of
from tidegate.server.page import LIMIT, Cursor, Limit, WholeNumber
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.tasks import task_of
from tidegate.server.visible import visible_apps

Show = Callable[[Request, Service, Caller, Rows, dict[str, Any]], Response]

BLANK = BeforeValidator(lambda value: None if value == "" else value)
"""A field that a person leaves empty in a form does not narrow."""

FIXED = ("request", "service", "caller", "limit", "cursor")
"""Parameters of every route; the others are filters."""


def add_route(
    router: APIRouter, listing: Listing, path: str = "", check: Callable[..., None] | None = None
) -> None:
    """Let a router answer with the pages of a list.

    Args:
        path: below that of the router; names in braces in it are filters. "" for the list's own name.
        check: refuses what the path names and is not there; None where every path is there.
    """
    path = path or f"/{listing.name}"
    needed = [Depends(needs(Role(listing.role))), *(() if check is None else (Depends(check),))]
    errors = (409,) if any(each.kind == "task" for each in listing.filters) else ()
    said = contract(page_of(listing.item), errors=errors)
    tags: list[str | Enum] = [] if router.tags else [listing.name]
    router.get(path, dependencies=needed, tags=tags, **said)(
        endpoint(listing, router.prefix + path, lambda _1, _2, _3, rows, _4: json_answer(rows))
    )


def endpoint(listing: Listing, path: str, show: Show) -> Callable[..., Response]:
    """Return what answers at a path with a page of a list.

    Args:
        show: makes the answer of a page, and of the filters as they were given.
    """

    def answer(
        request: Request,
        service: Here,
        caller: Called,
        limit: Limit = LIMIT,
        cursor: Cursor = None,
        **given: Any,
    ) -> Response:
        filters = {each.name: given[_word(each)] for each in listing.filters}
        rows = read_seen(service, caller, listing, filters, limit, cursor)
        return show(request, service, caller, rows, filters)

    fixed = [each for each in inspect.signature(answer).parameters.values() if each.name in FIXED]
    found = inspect.Signature([*fixed, *(_parameter(each, path) for each in listing.filters)])
    vars(answer)["__signature__"] = found
    answer.__name__, answer.__doc__ = f"list_{listing.name.replace('-', '_')}", listing.help
    return answer


def read_seen(
    service: Service,
    caller: Caller,
    listing: Listing,
    given: dict[str, Any],
    limit: int = LIMIT,
    cursor: str | None = None,
) -> Rows:
    """Return a page of a list, of what a caller sees.

    Raises:
        Problem: 400, a filter has an unknown value, or the cursor is of another list; 403, it names an app of
            another token; of a task, and of what the engine refuses with a code, as everywhere else.
    """
    with service.store.reading() as reader:
        source = Source(store=service.store, reader=reader, settings=service.settings, now=service.clock())
        for each in listing.filters:
            if each.kind == "task" and given[each.name]:
                given = {**given, each.name: task_of(service, reader, caller, given[each.name]).ref}
        with refused_as(400):
            try:
                scope = scope_of(service, reader, caller)
                return read(listing, source, scope, given, limit=limit, cursor=cursor)
            except NotInScope as error:
                caller.check_app(error.app)
                raise Problem(400, error.message) from error


def scope_of(service: Service, reader: EngineReader, caller: Caller) -> Scope:
    """Return what a caller sees."""
    apps = visible_apps(service, reader, caller)
    return Scope(namespace=service.namespace, apps=apps, catalogs=caller.apps is None)


def _parameter(of: Filter, path: str) -> inspect.Parameter:
    """Return a filter as a parameter of a route."""
    name = _word(of)
    kind = inspect.Parameter.KEYWORD_ONLY
    if f"{{{of.name}}}" in path:
        return inspect.Parameter(
            name, kind, annotation=Annotated[str, Path(alias=of.name, description=of.help)]
        )
    said = Query(alias=of.name, description=_with_values(of))
    match of.kind:
        case "flag":
            annotation: Any = Annotated[bool | None, BLANK, said]
        case "number":
            annotation = Annotated[int | None, WholeNumber, BLANK, said]
        case "state":
            annotation = Annotated[list[str], said]
            return inspect.Parameter(name, kind, default=[], annotation=annotation)
        case _:
            return inspect.Parameter(name, kind, default="", annotation=Annotated[str, said])
    return inspect.Parameter(name, kind, default=None, annotation=annotation)


def _word(of: Filter) -> str:
    """Return the name of a filter as one of Python that is none of its words."""
    return f"{of.name.replace('-', '_')}_"


def _with_values(of: Filter) -> str:
    return of.help if of.kind != "state" else f"{of.help} One of {', '.join(load(of.of))}, in either case."

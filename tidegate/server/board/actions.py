"""Actions of people as pages: what one does now, in sentences, and the button that does it.

GET  …/ACTION    rehearse the action ──► its fates, and their hash in the form
POST …/ACTION    carry it out ──► back to the page of the item; 409 with the new fates if they have changed

One page serves all actions that lists declare (`tidegate.listings`): a subject is what a path names, with its
actions. An action that has to know something first, such as a key, asks for it before it says what it does.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import msgspec
from fastapi import APIRouter, Depends, Request, Response

from tidegate.domain.value import Value
from tidegate.domain.wording import plural
from tidegate.listings.actions import find_action, refusal_of
from tidegate.listings.instances import INSTANCES
from tidegate.listings.listing import Action, load
from tidegate.scheduler.explain.effect import Act, Effect, Moved, carry_out, rehearse
from tidegate.scheduler.explain.fates import Fate
from tidegate.scheduler.model.records.token import Role
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.error import StoreBusy
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.server.access import OPERATE, Called, Caller
from tidegate.server.board.page import back, is_for_people, page
from tidegate.server.body import read_form
from tidegate.server.forms.action import FIELDS, Field, Given, taken_of
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Here, Service
from tidegate.server.tasks import check_tasks
from tidegate.server.visible import named, refused_to

CHANGED = "nothing was done: something else would happen now than was shown"
DONE_SHOWN = 3
"""So many sentences say what was done."""


Do = Callable[[EngineTransaction, Given], Any]
"""Carries out an action that is of no list."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What can be acted on.

    Attributes:
        name: for people.
        id, item: for the `do` and the `check` of an action.
        path: of its page; the pages of its actions are below it.
        query: of these pages, where the path is not enough.
        page: the address of its page; "" for `path` with `query`.
        home: the page that is shown afterwards, with its query; None for the subject's own.
        fields: what its actions ask for, by what they take.
        asks: the fields without which nothing can be said, and whether they need a text.
        admin: names of actions that need the role `admin`.
        do: in place of that of the action.
        app: in which the role is needed; None where the caller has been asked for it in all.
    """

    name: str
    id: Any
    item: Any
    path: str
    actions: Sequence[Action]
    query: Given = field(default_factory=dict[str, str])
    page: str = ""
    home: Callable[[EngineReader, Effect], tuple[str, Given]] | None = None
    fields: Mapping[str, Field] = field(default_factory=dict[str, Field])
    asks: Mapping[str, bool] = field(default_factory=dict[str, bool])
    admin: frozenset[str] = frozenset()
    do: Do | None = None
    app: str | None = None

    def role(self, action: Action) -> Role:
        """Return the role that an action needs."""
        return Role.ADMIN if action.name in self.admin else Role(action.role)


Find = Callable[[Service, ListingReader, Caller, Mapping[str, Any], Given], Subject]
"""Returns what the parameters of a path name, with its form or query; raises a Problem for nothing."""


class Offered(Value, kw_only=True):
    """An action in the menu of a page.

    Attributes:
        path: of its page.
        refusal: why it cannot be done now; "" if it can.
    """

    name: str
    title: str
    help: str
    path: str
    refusal: str = ""


class Ahead(Value, kw_only=True):
    """What an action would do now.

    Attributes:
        asks: whether it has to know its fields before it says more.
        agreed: the hash of the sentences, which the form sends: nothing else is done than was shown.
        refusal: why it would be refused; "" if it would not.
        busy: whether another process writes to the store, so that it cannot be said now what would happen.
        moved: whether something else was shown before, so that nothing was done.
        button: what the button says.
        hidden: what the form sends beside its fields.
        back: the page that it came from.
    """

    title: str
    name: str
    help: str
    path: str
    back: str
    button: str
    fields: tuple[Field, ...]
    hidden: dict[str, str]
    asks: bool = False
    fates: tuple[Fate, ...] = ()
    agreed: str = ""
    discarded: int = 0
    refusal: str = ""
    busy: bool = False
    moved: bool = False


def offered(subject: Subject, reader: EngineReader, now: datetime, caller: Caller) -> tuple[Offered, ...]:
    """Return the actions of a subject for the menu of its page, those that are refused with the reason."""
    return tuple(
        Offered(
            name=action.name,
            title=action.title,
            help=action.help,
            path=_address(subject, f"/{action.name}"),
            refusal=_why_not(subject, action, reader, now, caller),
        )
        for action in subject.actions
    )


def _address(subject: Subject, below: str) -> str:
    """Return the address of a page of a subject."""
    return quote(subject.path + below) + (f"?{urlencode(subject.query)}" if subject.query else "")


def _why_not(subject: Subject, action: Action, reader: EngineReader, now: datetime, caller: Caller) -> str:
    try:
        caller.check(subject.role(action), subject.app)
    except Problem as problem:
        return problem.message
    refusal = refusal_of(action, reader, subject.item, now)
    return "" if refusal is None else refusal.message.removeprefix(f"{getattr(refusal, 'code', '')}: ")


def add_actions(router: APIRouter, path: str, find: Find) -> None:
    """Add the pages of the actions of a kind of subject.

    Args:
        path: of these pages within the router; it ends with the name of the action.
    """

    def show(request: Request, service: Here, caller: Called) -> Response:
        names, given = _names(request), dict(request.query_params)
        with service.store.reading() as reader:
            subject = find(service, reader, caller, names, given)
        view = _ahead(service, caller, subject, _wanted(subject, caller, names["action"]), given)
        return page(request, service, "action", view.title, view, status=503 if view.busy else 200)

    def act(
        request: Request,
        service: Here,
        caller: Called,
        form: Annotated[dict[str, str], Depends(read_form)],
    ) -> Response:
        names, shown = _names(request), None
        try:
            with service.store.transaction() as transaction:
                subject = find(service, transaction, caller, names, form)
                wanted = _wanted(subject, caller, names["action"])
                doing = _doing(service, caller, subject, wanted, form)
                try:
                    effect = carry_out(transaction, doing, service.clock(), form.get("agreed"))
                except Moved as moved:
                    shown = _shown(subject, wanted, form, moved.effect, moved=True)
                    raise
                home, query = (
                    subject.home(transaction, effect) if subject.home else (subject.path, subject.query)
                )
        except Moved as moved:
            # The transaction has kept nothing.
            if shown is None or not is_for_people(request):
                raise Problem(409, CHANGED, hint="look at what it does now") from moved
            return page(request, service, "action", shown.title, shown, status=409)
        done = "; ".join(each.text for each in effect.fates[:DONE_SHOWN]) or f"{wanted.title} is done"
        if effect.done is False:
            done = f"{subject.name} was so already: nothing has changed"
        return back(home, done, **query)

    router.get(path, dependencies=[OPERATE])(show)
    router.post(path, dependencies=[OPERATE])(act)


def _names(request: Request) -> dict[str, str]:
    """Return the parameters of a path, with the name of the action at its end."""
    return {"action": request.url.path.rpartition("/")[2], **request.path_params}


def _wanted(subject: Subject, caller: Caller, name: str) -> Action:
    """Return the action of a name, which the caller may do.

    Raises:
        Problem: 400 for an unknown one, 401 or 403.
    """
    with refused_as(400):
        found = find_action(subject.actions, name)
    caller.check(subject.role(found), subject.app)
    return found


def _doing(service: Service, caller: Caller, subject: Subject, action: Action, given: Given) -> Act:
    """Return an action as it is carried out within a transaction, with what a person has given.

    Raises:
        Problem: 400 for a malformed field; the action itself raises others.
    """
    now, by = service.clock(), caller.by(given.get("reason", "").strip())
    taken = taken_of(action, given, now)

    def do(transaction: EngineTransaction) -> Any:
        with refused_to(transaction, caller), named():
            if subject.do is not None:
                return subject.do(transaction, given)
            done = load(action.do)(transaction, subject.id, now, by=by, **dict(action.given), **taken)
        if action in INSTANCES.actions:
            # Its consumers may be of other apps.
            check_tasks(service, transaction, caller, tuple(job.schedule for job in done))
        return done

    return do


def _ahead(service: Service, caller: Caller, subject: Subject, action: Action, given: Given) -> Ahead:
    """Return what an action would do now, or what it has to know first."""
    asks = {name: must for name, must in subject.asks.items() if name in action.takes}
    if any(name not in given or (must and not given[name].strip()) for name, must in asks.items()):
        return _shown(subject, action, given, asks=True)
    try:
        effect = rehearse(service.store, _doing(service, caller, subject, action, given), service.clock())
    except StoreBusy:
        return _shown(subject, action, given, busy=True)
    except Problem as problem:
        return _shown(subject, action, given, refusal=problem.message)
    return _shown(subject, action, given, effect)


def _shown(
    subject: Subject, action: Action, given: Given, effect: Effect | None = None, **more: Any
) -> Ahead:
    """Return the page of an action.

    Args:
        given: what was given; the form has it again.
        more: fields of the page.
    """
    fields = {name: subject.fields.get(name) or FIELDS[name] for name in action.takes}
    about = {name: given.get(name, "").strip() for name in fields if name not in FIELDS}
    first, asks = more.get("asks", False), bool(subject.asks.keys() & fields.keys())
    shown = [
        msgspec.structs.replace(each, value=given.get(name, each.value))
        for name, each in fields.items()
        if (name in about) is first or not asks
    ]
    hidden = {} if first or not asks else {name: value for name, value in about.items() if value}
    words = ", ".join(hidden.values())
    discarded = 0 if effect is None else effect.discarded
    return Ahead(
        title=f"{action.title} {subject.name}{': ' if words else ''}{words}?",
        name=action.name,
        help=action.help,
        path=_address(subject, f"/{action.name}"),
        back=subject.page or _address(subject, ""),
        button=action.title + (f" and discard {plural(discarded, 'job')}" if discarded else ""),
        fields=tuple(shown),
        hidden={**subject.query, **hidden},
        fates=() if effect is None else effect.fates,
        agreed="" if effect is None else effect.agreed,
        discarded=discarded,
        **more,
    )

"""What a list is: `Listing`, with its filters, columns and actions, and the scope of its caller."""

from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from tidegate.domain.error import UserError
from tidegate.domain.value import Value

Instant = Annotated[datetime, msgspec.Meta(tz=True)]
"""An instant in a public struct, with its zone."""

FilterKind = Literal[
    "app",
    "schedule",
    "task",
    "dataset",
    "state",
    "reason",
    "job",
    "instant",
    "day",
    "text",
    "flag",
    "number",
]
"""What a filter names; `listings.kinds` parses, checks and completes each kind."""

ShownAs = Literal[
    "text",
    "id",
    "list",
    "number",
    "instant",
    "state",
    "status",
    "flag",
    "reason",
    "job",
    "commit",
    "schedule",
    "dataset",
    "part",
    "run",
    "deployment",
    "changes",
    "deliveries",
    "table",
    "backfill",
    "counts",
    "measure",
    "age",
    "subject",
    "since",
    "waits",
]
"""What a column shows: each face knows how it writes an instant, and what a job links to.

The last three are of a terminal only: a name with the key of the item, how long ago, and what it waits for.
"""

RoleName = Literal["read", "operate", "admin"]


class Filter(NamedTuple):
    """What narrows a list; it is equal in all faces.

    Attributes:
        name: of the option, and of the parameter.
        help: one sentence.
        of: of a `state`, the enumeration of its values, "module:name".
        or_schedule: of a `task`: the name of a schedule will do as well.
        gone: also one that is deployed no longer, or was pruned, if the list has something of it.
    """

    name: str
    kind: FilterKind
    help: str
    of: str = ""
    gone: bool = False
    or_schedule: bool = False


class Column(NamedTuple):
    """A field of the items, as tables show it.

    Attributes:
        name: of the field.
        priority: 1 is always in a table; 2 where a line has a value, and a terminal has room; 3 in the pages
            of the board, and in a terminal with `--wide`; 0 in a terminal without that only.
        heading: of the column; "" for the field's own name in words.
    """

    name: str
    shown_as: ShownAs
    priority: int = 2
    heading: str = ""

    @property
    def title(self) -> str:
        """The heading of the column."""
        return self.heading or self.name.removesuffix("_at").replace("_", " ")


class Action(NamedTuple):
    """What a person does to an item.

    Attributes:
        name: in paths and commands; its words are those of the button.
        do: "module:function" of `(transaction, id, now, by=…)` with `given` and what it takes, which does it.
        check: "module:function" of `(reader, item of the engine, now)` with `given`, which refuses what `do`
            would refuse.
        help: what it does, one sentence for the menu.
        given: arguments that are always the same.
        takes: what it takes from a person: a reason, an expiry, or what it is about.
    """

    name: str
    do: str
    check: str
    help: str
    role: RoleName = "operate"
    given: tuple[tuple[str, Any], ...] = ()
    takes: tuple[str, ...] = ("reason",)

    @property
    def title(self) -> str:
        """What its button says."""
        return self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, kw_only=True)
class Ordered:
    """What can be read page by page.

    Attributes:
        name: of the list in paths and cursors.
        item: the struct of a line: the answer of REST and of `--format json`.
        order: the fields by which the items are ordered, together different for each; falling after a "-".
    """

    name: str
    item: type[Value]
    order: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Listing(Ordered):
    """A list.

    Attributes:
        title: of its page.
        help: what it lists and in which order, one sentence.
        query: "module:function" of `(asked)`, which returns the items that match; `listings.read` says which.
        worst_first: the field of the state by which the board orders the items of a page; "" for `order`.
    """

    title: str
    help: str
    query: str
    filters: tuple[Filter, ...]
    columns: tuple[Column, ...]
    actions: tuple[Action, ...] = ()
    role: RoleName = "read"
    worst_first: str = ""

    @property
    def whole(self) -> tuple[Column, ...]:
        """The columns of the board, and of a terminal with `--wide`."""
        return tuple(column for column in self.columns if column.priority)


class Scope(Value, kw_only=True):
    """What a caller may see.

    Attributes:
        namespace: the only one; "" for all.
        apps: the only ones; None for all, with those that are not deployed any longer.
        catalogs: tables of catalogs too, which are of no app.
    """

    namespace: str = ""
    apps: frozenset[str] | None = None
    catalogs: bool = True

    def check(self, app: str, text: str = "") -> None:
        """Refuse an app that the caller does not see.

        Args:
            text: as the caller has written it; "" for its name.

        Raises:
            NotInScope: it is not one of `apps`.
        """
        if self.apps is not None and app not in self.apps:
            raise NotInScope(app, text or app)


EVERYTHING = Scope()
"""The scope of a person at a terminal, who can read the store as it is."""


class NotInScope(UserError):
    """A filter names an app that the caller does not see."""

    def __init__(self, app: str, text: str) -> None:
        super().__init__(f'there is no app "{text:.100}"')
        self.app = app


def load(target: str) -> Any:
    """Import what a declaration names as "module:name"."""
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)

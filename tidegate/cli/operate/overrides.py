"""`tidegate overrides`: list and show what was changed by hand, and revert it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    ReasonOption,
    instant,
    print_json,
    print_line,
    print_table,
)
from tidegate.listings.overrides import OVERRIDES

if TYPE_CHECKING:
    from tidegate.listings.overrides import Override

app = typer.Typer(no_args_is_help=True, help="List, show and revert what was changed by hand.")

NameArgument = Annotated[
    str, typer.Argument(help='"app/schedule", the schedule alone if only one app has it, or an app on hold.')
]


class Only(StrEnum):
    """What of a schedule is reverted."""

    STATUS = "status"
    TEXT = "text"


app.command("list")(
    list_command(
        OVERRIDES,
        lambda given, _: Parts([Part("", given)], "Nothing was changed by hand."),
        limit=200,
        json_limit=NUMBER_MAX,
    )
)


@app.command("show")
def show_overrides(name: NameArgument, format: FormatOption = Format.TEXT) -> None:
    """Show the overrides of a schedule, and what each reverts to."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.listings.queries.overrides import public_overrides
    from tidegate.scheduler.explain.overrides import find_overrides

    with opened_store() as store, store.reading() as reader:
        found = public_overrides(reader, find_overrides(reader, name))
    if format is Format.JSON:
        print_json(found)
        return
    for number, each in enumerate(found):
        if number:
            typer.echo()
        print_table([each.kind, each.ref], list(_fields(each)))
        for field in each.fields:
            print_line(f"  {field.path}: deployed {_text(field.deployed)}, override {_text(field.override)}")


@app.command("revert")
def revert_override(
    name: NameArgument,
    only: Annotated[
        Only | None, typer.Option(help="Only that of the status, or of the text.", show_default=False)
    ] = None,
    reason: ReasonOption = "",
) -> None:
    """Revert the overrides of a schedule now; what happens to its jobs `on_update` and `on_suspend` say."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.held_apps import release_app
    from tidegate.scheduler.commands.reverts import revert
    from tidegate.scheduler.explain.overrides import find_overrides, reverted_to

    now, by = datetime.now(UTC), by_hand(reason)
    with opened_store() as store, store.transaction() as transaction:
        (first, *_) = find_overrides(transaction, name)
        if first.kind == "held":
            release_app(transaction, first.ref, now, by)
            reverted = (first,)
        else:
            reverted = revert(transaction, first.ref, now, by, None if only is None else only.value)
    for each in reverted:
        print_line(f"{each.ref} {reverted_to(each)}")


def _fields(override: "Override") -> Iterator[list[str]]:
    yield ["override", override.override]
    yield ["owner", override.owner]
    yield ["reason", override.reason or "-"]
    yield ["since", instant(override.since)]
    yield ["expires", "never" if override.expires_at is None else instant(override.expires_at)]
    yield ["reverts", f"the {'app' if override.kind == 'held' else 'schedule'} {override.reverts}"]


def _text(value: object) -> str:
    import msgspec

    return "-" if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()

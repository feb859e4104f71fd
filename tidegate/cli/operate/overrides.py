"""`tidegate overrides`: list and show what was changed by hand, and revert it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import (
    Format,
    FormatOption,
    ReasonOption,
    instant,
    print_json,
    print_line,
    print_table,
)

if TYPE_CHECKING:
    from tidegate.scheduler.model.records.override import Override

app = typer.Typer(no_args_is_help=True, help="List, show and revert what was changed by hand.")

NameArgument = Annotated[
    str, typer.Argument(help='"app/schedule", the schedule alone if only one app has it, or an app on hold.')
]


class Part(StrEnum):
    """What of a schedule is reverted."""

    STATUS = "status"
    TEXT = "text"


@app.command("list")
def list_overrides(
    app: Annotated[str | None, typer.Option(help="Only those of this app.")] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """List what differs from the deployments by hand: what, by whom, since and until when, why."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.names import find_app
    from tidegate.scheduler.explain.overrides import overridden_as, override_json

    with opened_store() as store, store.reading() as reader:
        app = find_app(reader, app)
        found = reader.overrides(app=app)
    if format is Format.JSON:
        print_json([override_json(each) for each in found])
        return
    if not found:
        typer.echo("Nothing was changed by hand.")
        return
    print_table(
        ["schedule", "override", "owner", "since", "expires", "reason"],
        [
            [each.ref, overridden_as(each), each.owner, instant(each.since), _expires(each), each.reason]
            for each in found
        ],
    )


@app.command("show")
def show_overrides(name: NameArgument, format: FormatOption = Format.TEXT) -> None:
    """Show the overrides of a schedule, and what each reverts to."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.explain.overrides import find_overrides, override_json

    with opened_store() as store, store.reading() as reader:
        found = find_overrides(reader, name)
        states = {state.ref: state for state in reader.schedules(refs=[each.ref for each in found])}
    if format is Format.JSON:
        print_json([override_json(each, states.get(each.ref)) for each in found])
        return
    for number, each in enumerate(found):
        if number:
            typer.echo()
        print_table([each.kind, each.ref], list(_fields(each)))
        state = states.get(each.ref)
        for view in override_json(each, state)["fields"]:
            print_line(
                f"  {view['path']}: deployed {_text(view['deployed'])}, override {_text(view['override'])}"
            )


@app.command("revert")
def revert_override(
    name: NameArgument,
    only: Annotated[
        Part | None, typer.Option(help="Only that of the status, or of the text.", show_default=False)
    ] = None,
    reason: ReasonOption = "",
) -> None:
    """Revert the overrides of a schedule now; what happens to its jobs `on_update` and `on_suspend` say."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.held_apps import release_app
    from tidegate.scheduler.commands.reverts.revert import revert
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
    from tidegate.scheduler.explain.overrides import overridden_as, reverted_to

    yield ["override", overridden_as(override)]
    yield ["owner", override.owner]
    yield ["reason", override.reason or "-"]
    yield ["since", instant(override.since)]
    yield ["expires", _expires(override)]
    yield ["reverts", f"the {'app' if override.kind == 'held' else 'schedule'} {reverted_to(override)}"]


def _expires(override: "Override") -> str:
    return "never" if override.expires_at is None else instant(override.expires_at)


def _text(value: object) -> str:
    import msgspec

    return "-" if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()

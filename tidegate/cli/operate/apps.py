"""`tidegate apps`: list the deployed apps, and stop and continue the launches of one."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.by_hand import ExpiresOption, by_hand, until_of
from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    ReasonOption,
    WideOption,
    instant,
    print_for_tools,
    print_line,
    print_table,
)

NamesArgument = Annotated[list[str], typer.Argument(help="Names of apps.")]

app = typer.Typer(no_args_is_help=True, help="List the apps; stop and continue the launches of one.")


@app.command("list")
def list_apps(wide: WideOption = False, format: ListFormatOption = Format.TEXT) -> None:
    """List the deployed apps and those on hold."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.tick.held_apps import held_apps

    with opened_store() as store, store.reading() as reader:
        deployed = {each.name: each for each in reader.app_headers()}
        held = held_apps(reader)
    names = sorted({*deployed, *held})
    if format is not Format.TEXT:
        found = [
            {
                "name": name,
                "deployed": name in deployed,
                "project": deployed[name].project if name in deployed else None,
                "hold": held.get(name),
            }
            for name in names
        ]
        print_for_tools(found, format, ("name", "deployed", "project", "hold"))
        return
    if not names:
        typer.echo("No apps are deployed. Run `tidegate deploy` first.")
        return
    print_table(
        ["app", "project", "launches"],
        [
            [
                name,
                deployed[name].project if name in deployed else "(not deployed)",
                f"on hold since {instant(held[name].at)}, by {held[name].by}" if name in held else "yes",
            ]
            for name in names
        ],
        wide=wide,
    )


@app.command("hold")
def hold_apps(names: NamesArgument, reason: ReasonOption = "", expires: ExpiresOption = None) -> None:
    """Launch nothing of these apps until they are released; events still count, and nothing is discarded."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.held_apps import hold_app
    from tidegate.scheduler.explain.names import app_named

    now, by = datetime.now(UTC), by_hand(reason)
    until = until_of(expires, now)
    with opened_store() as store, store.transaction() as transaction:
        apps = dict.fromkeys(app_named(transaction, name) for name in names)
        held = {app: hold_app(transaction, app, now, by, until) for app in apps}
    ends = "" if until is None or until.at is None else f" until {instant(until.at)}"
    for name, is_new in held.items():
        if is_new:
            print_line(
                f"{name} is on hold{ends}: nothing of it is launched; `tidegate apps release {name}` goes on"
            )
        else:
            print_line(f"{name} is already on hold")


@app.command("release")
def release_apps(names: NamesArgument, reason: ReasonOption = "") -> None:
    """Launch again: first what was decided meanwhile."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.by_hand.held_apps import release_app
    from tidegate.scheduler.explain.names import app_named
    from tidegate.scheduler.tick.held_apps import held_apps

    with opened_store() as store, store.transaction() as transaction:
        held = held_apps(transaction)
        # An app that is not deployed any more may be on hold.
        apps = dict.fromkeys(name if name in held else app_named(transaction, name) for name in names)
        now, by = datetime.now(UTC), by_hand(reason)
        released = {app: release_app(transaction, app, now, by) for app in apps}
    for name, was_held in released.items():
        print_line(f"{name} is released" if was_held else f"{name} was not on hold")

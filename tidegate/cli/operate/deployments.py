"""`tidegate deployments`: what was deployed when and by whom, what it changed, and the way back."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.develop.agreement import NotAgreed, YesOption, at_terminal, require_agreement, taken_away
from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import (
    NUMBER_MAX,
    Format,
    FormatOption,
    instant,
    print_json,
    print_line,
)
from tidegate.domain.error import UserError
from tidegate.listings.deployments import DEPLOYMENTS

if TYPE_CHECKING:
    from tidegate.listings.deployments import LoggedDeployment

NumberArgument = Annotated[int, typer.Argument(help="The number in the log.", min=1, max=NUMBER_MAX)]

app = typer.Typer(no_args_is_help=True, help="List, show and compare deployments, and roll back to one.")


log = list_command(DEPLOYMENTS, lambda given, _: Parts([Part("", given)], "No deployments."), limit=20)
app.command("log")(log)


@app.command("show")
def show(number: NumberArgument, format: FormatOption = Format.TEXT) -> None:
    """Show a deployment and what it changed."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.compiler.render.diff_json import diff_json
    from tidegate.compiler.render.diff_text import diff_text
    from tidegate.listings.queries.deployments import find_deployment
    from tidegate.scheduler.commands.deployment.deployments import change_of

    with opened_store() as store, store.reading() as reader:
        found, change = find_deployment(reader, number), change_of(reader, number)
    if format is Format.JSON:
        print_json({"deployment": found, "changes": diff_json(change)})
        return
    print_line(f"deployment {found.number} at {instant(found.at)} by {found.by}")
    if _why(found):
        print_line(f"reason: {_why(found)}")
    typer.echo(diff_text(change))


@app.command("diff")
def diff(
    old: NumberArgument,
    new: Annotated[
        int | None,
        typer.Argument(help="Another number; without it, what is deployed.", min=1, max=NUMBER_MAX),
    ] = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what changed between two deployments, or since one; exit code 2 if something did."""
    from tidegate.cli.develop.difference import print_difference
    from tidegate.cli.develop.plan import EXIT_CHANGES
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deployment.deployments import change_between

    settings = load_settings()
    with opened_store(settings) as store, store.reading() as reader:
        found = change_between(reader, old, new, settings.name)
    print_difference(found, format)
    if not found.empty:
        raise typer.Exit(EXIT_CHANGES)


@app.command("rollback")
def rollback(
    number: NumberArgument,
    reason: Annotated[str, typer.Option(help="Why, for the journal and the log.", metavar="TEXT")],
    app: Annotated[
        list[str] | None,
        typer.Option("--app", help="Only this app; may be repeated.", metavar="NAME", show_default=False),
    ] = None,
    remove_apps: Annotated[
        bool, typer.Option("--remove-apps", help="Remove apps that did not exist then.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Also if schedules lose their trigger or upstream task.")
    ] = False,
    yes: YesOption = False,
    format: FormatOption = Format.TEXT,
) -> None:
    """Deploy what was deployed after an earlier deployment, as a new one."""
    from tidegate.cli.develop.difference import print_difference
    from tidegate.cli.develop.plan import own_apps, project_scope
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
    from tidegate.scheduler.commands.deployment.deployments import apps_after
    from tidegate.scheduler.commands.deployment.deployments import rollback as roll_back

    if not reason.strip():
        raise UserError("a rollback has a reason", "write --reason TEXT")
    settings = load_settings()
    only = own_apps(settings, app)
    lines = None if yes or not at_terminal(format) else ()
    with opened_store(settings) as store:
        while True:
            try:
                with store.transaction() as transaction:
                    known = {**deployed_apps(transaction), **apps_after(transaction, number)}
                    scope = project_scope(transaction, settings, known, only, remove_apps)
                    changes = roll_back(
                        transaction,
                        number,
                        scope,
                        datetime.now(UTC),
                        by_hand(reason),
                        force=force,
                        remove_apps=remove_apps,
                    )
                    if lines not in (None, taken_away(changes)):
                        raise NotAgreed(taken_away(changes))
                    break
            except NotAgreed as other:
                lines = other.lines
                require_agreement(lines, "Roll back?")
    print_difference(changes, format)
    if format is Format.TEXT:
        typer.echo("The YAML is as it was: the next deploy follows it again.")


def _why(found: "LoggedDeployment") -> str:
    of = "" if found.rollback_to is None else f"rollback to {found.rollback_to}"
    return ": ".join(part for part in (of, found.reason) if part)

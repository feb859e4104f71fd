"""`tidegate token`: create, list and revoke the tokens of callers of `tidegate serve`."""

import secrets
from datetime import UTC, datetime
from typing import Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.printing import (
    Format,
    ListFormatOption,
    ReasonOption,
    WideOption,
    instant,
    print_for_tools,
    print_table,
)
from tidegate.domain.error import WrongUsage
from tidegate.domain.part_name import namespace_and_app
from tidegate.domain.wording import plural
from tidegate.scheduler.model.records.token import TOKENS, Role

SECRET_BYTES = 32
"""So random that a plain hash of it cannot be searched."""

NameArgument = Annotated[str, typer.Argument(help="The name of the token, under which the journal has it.")]

app = typer.Typer(
    no_args_is_help=True, help="Create, list and revoke the tokens that `tidegate serve` accepts."
)


@app.command("create")
def create(
    name: NameArgument,
    role: Annotated[Role, typer.Option(help="What it allows; each role includes those before it.")],
    app: Annotated[str | None, typer.Option(help="Only this app.", metavar="NAME")] = None,
    namespace: Annotated[
        str | None, typer.Option(help="Only the apps of this namespace.", metavar="NAME")
    ] = None,
    reason: ReasonOption = "",
) -> None:
    """Create a token, and print it: on the last line, this once."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.tokens import create_token
    from tidegate.scheduler.model.records.token import token_hash

    app, namespace = _limits(app, namespace)
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with opened_store(create=True) as store, store.transaction() as transaction:
        now, by = datetime.now(UTC), by_hand(reason)
        create_token(transaction, name, role, app, token_hash(secret), now, by, namespace)
    whose = "all apps" if app is None else f"app {app}"
    where = "" if namespace is None else f" of namespace {namespace}"
    typer.echo(f"token {name} ({role}, {whose}{where}); it is not shown again:")
    typer.echo(secret)


def _limits(name: str | None, namespace: str | None) -> tuple[str | None, str | None]:
    """Return the app and the namespace of a token; the name of the app may have its namespace."""
    if name is None:
        return name, namespace
    of_app, app = namespace_and_app(name)
    if not of_app:
        return app, namespace
    if namespace not in (None, of_app):
        raise WrongUsage(f"--app {name} and --namespace {namespace} name two namespaces", "name one of them")
    return app, of_app


@app.command("list")
def list_tokens(wide: WideOption = False, format: ListFormatOption = Format.TEXT) -> None:
    """List the tokens, revoked ones too."""
    from tidegate.cli.opened_store import ask_store
    from tidegate.project.settings.settings import load_settings

    found = ask_store(load_settings(), lambda reader: reader.records(TOKENS), ())
    if format is not Format.TEXT:
        fields = ("name", "role", "app", "namespace", "created_at", "revoked_at")
        rows = [{name: getattr(token, name) for name in fields} for token in found]
        print_for_tools(rows, format, fields)
        return
    if not found:
        typer.echo("There are no tokens: `tidegate serve` answers on loopback only.")
        return
    print_table(
        ["token", "role", "namespace", "app", "created", "revoked"],
        [
            [
                token.name,
                token.role,
                token.namespace or "all",
                token.app or "all",
                instant(token.created_at),
                instant(token.revoked_at),
            ]
            for token in found
        ],
        wide=wide,
    )


@app.command("revoke")
def revoke(
    name: Annotated[str | None, typer.Argument(help="The name of the token.", show_default=False)] = None,
    person: Annotated[
        str | None,
        typer.Option(
            help="End the sessions of this person instead, by e-mail or subject of the sign-on.",
            metavar="PERSON",
        ),
    ] = None,
    reason: ReasonOption = "",
) -> None:
    """Revoke a token, or end the sessions of a person: a running server refuses the next request."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.scheduler.commands.tokens import end_sessions, revoke_token

    if (name is None) == (person is None):
        raise WrongUsage(
            "one of a token and --person is needed", "write the name of the token, or --person EMAIL"
        )
    now, by = datetime.now(UTC), by_hand(reason)
    with opened_store() as store, store.transaction() as transaction:
        if name is not None:
            revoke_token(transaction, name, now, by)
            done = f"token {name} is revoked"
        else:
            ended = end_sessions(transaction, person or "", now, by)
            done = f"{plural(ended, 'session')} of {person} ended"
    typer.echo(done)

"""`tidegate schedules update` and `create`: change the text of a deployed schedule, beside the YAML.

They do what the calls over REST do; the change is an override (docs/operating.md, "Overrides").
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tidegate.cli.by_hand import ExpiresOption, by_hand, until_of, yaml_option
from tidegate.cli.printing import ReasonOption, print_line
from tidegate.domain.error import UserError, WrongUsage

if TYPE_CHECKING:
    from tidegate.compiler.diagnostics.diagnostic import Diagnostic
    from tidegate.compiler.plan.diff import Diff
    from tidegate.domain.model import Schedule
    from tidegate.scheduler.model.deployed import ScheduleState
    from tidegate.scheduler.store.protocol import EngineTransaction

SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="A key of the schedule and its whole new value as YAML; may be repeated.",
        metavar="KEY=YAML",
        show_default=False,
    ),
]


def update_schedule(
    name: Annotated[
        str, typer.Argument(help='"app/schedule", or the schedule alone if only one app has it.')
    ],
    changes: SetOption = None,
    expires: ExpiresOption = None,
    replace_program: Annotated[
        bool, typer.Option("--replace-program", help="Allow another program than before.")
    ] = False,
    reason: ReasonOption = "",
) -> None:
    """Replace keys of a deployed schedule until the next deployment, or until it expires."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.one_schedule import changed_text
    from tidegate.scheduler.commands.deployment.schedules import put_schedule
    from tidegate.scheduler.explain.names import find_schedule

    given, now = _given(changes), datetime.now(UTC)
    until, by = until_of(expires, now), by_hand(reason)
    if "status" in given:
        raise WrongUsage("an update changes no status", "use `tidegate schedules suspend` or `resume`")
    with opened_store() as store, store.transaction() as transaction:
        state = find_schedule(transaction, name)
        if given.get("program", state.spec.program) != state.spec.program and not replace_program:
            hint = "add --replace-program if that is meant"
            raise UserError(f"the program of {state.ref} is {state.spec.program}", hint)
        spec = _compiled(transaction, state.app, state.name, changed_text(state, given), state)
        done = put_schedule(transaction, state.app, spec, now, by, until)
        _print(transaction, state.ref, done)


def create_schedule(
    name: Annotated[
        str, typer.Argument(help="app/schedule: a deployed app, also with its namespace, and a new name.")
    ],
    changes: SetOption = None,
    expires: ExpiresOption = None,
    reason: ReasonOption = "",
) -> None:
    """Create a schedule of a deployed app; it is suspended unless its `status` is active."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.one_schedule import NEW_NAME
    from tidegate.scheduler.commands.deployment.schedules import put_schedule
    from tidegate.scheduler.explain.names import app_named

    app, _, schedule = name.rpartition("/")
    if not app or NEW_NAME.fullmatch(schedule) is None:
        raise WrongUsage(
            f"a new schedule is named app/schedule or ns/app/schedule, got {name!r:.100}",
            "for example sales/extra",
        )
    text, now = _given(changes), datetime.now(UTC)
    until, by = until_of(expires, now), by_hand(reason)
    with opened_store() as store, store.transaction() as transaction:
        app = app_named(transaction, app)
        name = f"{app}/{schedule}"
        if transaction.schedules(refs=[name]):
            raise UserError(f"{name} is deployed already", "`tidegate schedules update` changes it")
        spec = _compiled(transaction, app, schedule, text, None)
        _print(transaction, name, put_schedule(transaction, app, spec, now, by, until))


def _given(changes: Sequence[str] | None) -> dict[str, Any]:
    """Return the given keys.

    Raises:
        WrongUsage: there are none, or one of them is malformed.
    """
    found = dict(yaml_option("--set", each, "KEY=YAML", "timeout=2h") for each in changes or ())
    if not found:
        raise WrongUsage("nothing is set", "write --set KEY=YAML, for example --set timeout=2h")
    return found


def _compiled(
    transaction: "EngineTransaction",
    app: str,
    name: str,
    text: Mapping[str, Any],
    before: "ScheduleState | None",
) -> "Schedule":
    """Compile a text; print what is wrong with it, and end the command."""
    from tidegate.compiler.reader.json_text import json_text
    from tidegate.project.one_schedule import compile_one, namespaces_of
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps

    document, settings = json_text(dict(text)), load_settings()
    namespaces = namespaces_of(settings, transaction)
    found, diagnostics = compile_one(
        settings, deployed_apps(transaction), app, name, document, before, namespaces
    )
    if found is None:
        for each in diagnostics:
            print_line(_line(each, document.paths), err=True)
        raise UserError(f"{app}/{name} was not changed: its text would be wrong")
    return found


def _line(diagnostic: "Diagnostic", paths: Mapping[int, str]) -> str:
    place = paths.get(diagnostic.at.line, "")
    hint = f"\nhint: {diagnostic.hint}" if diagnostic.hint else ""
    where = f"{place}: " if place else ""
    return f"{where}{diagnostic.severity}[{diagnostic.code}]: {diagnostic.summary}{hint}"


def _print(transaction: "EngineTransaction", ref: str, changes: "Diff") -> None:
    from tidegate.compiler.render.diff_text import diff_text
    from tidegate.scheduler.commands.overrides import text_override_of
    from tidegate.scheduler.explain.overrides import override_line

    typer.echo(diff_text(changes))
    override = text_override_of(transaction, ref)
    if override is None:
        print_line(f"{ref} is as it was deployed")
    else:
        print_line(f"{ref} is {override_line(override)}; `tidegate overrides revert {ref}` takes it back")

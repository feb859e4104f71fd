"""`tidegate deploy`: deploys the project's YAML to the schedule store, in one transaction.

Apps of other projects in the same store are not changed. An app of the project that is no longer in the
folder is removed with `--remove-apps`, or after confirmation at a terminal; otherwise it remains, the
output reports it, and the exit code is 0. Nothing is deployed while the YAML has errors, and a deployment
that would remove the trigger of a remaining schedule is refused.
"""

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.develop.plan import (
    AppOption,
    ImportsOption,
    RemoveOption,
    UpdateOption,
    compiled_apps,
    print_difference,
    project_scope,
)
from tidegate.cli.printing import Format, FormatOption, ReasonOption

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff


def deploy(
    update_schedules: UpdateOption = None,
    app: AppOption = None,
    remove_apps: RemoveOption = False,
    imports: ImportsOption = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Deploy even if schedules lose their trigger or upstream task, or share folders."
        ),
    ] = False,
    reason: ReasonOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Deploy the YAML to the schedule store; print the changes."""
    import msgspec

    from tidegate.cli.opened_store import opened_store
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deploy import deploy as deploy_apps
    from tidegate.scheduler.commands.live import difference
    from tidegate.scheduler.explain.operations.coverage import coverage, load_known
    from tidegate.scheduler.model.journal import By

    settings = load_settings()
    wanted = compiled_apps(settings, format, imports=settings.check_imports if imports is None else imports)
    update = settings.update_schedules if update_schedules is None else update_schedules
    with opened_store(settings, create=True) as store:
        with store.reading() as reader:
            scope = project_scope(reader, settings, wanted, app, remove_apps)
            all_of_it = msgspec.structs.replace(scope, removable=None)
            removal = removed_apps(difference(reader, wanted, update_schedules=update, scope=all_of_it))
        if removal.apps and not remove_apps and at_terminal(format) and confirmed(removal):
            # These and no others: the store may have changed since the question.
            scope = msgspec.structs.replace(scope, removable=frozenset(each.name for each in removal.apps))
        with store.transaction() as transaction:
            now, known = datetime.now(UTC), load_known(transaction)
            applied = deploy_apps(
                transaction,
                wanted,
                now,
                update_schedules=update,
                force=force,
                scope=scope,
                by=By(reason=reason),
            )
    print_difference(applied, format, covered=coverage(known, applied))


def removed_apps(difference: "Diff") -> "Diff":
    """The part of a difference that removes apps."""
    import msgspec

    gone = tuple(change for change in difference.apps if change.action == "delete")
    return msgspec.structs.replace(difference, apps=gone, refusals=(), taken=(), adopted=())


def at_terminal(format: Format) -> bool:
    """Whether a person is there to answer."""
    return format is Format.TEXT and sys.stdin.isatty()


def confirmed(removal: "Diff") -> bool:
    """Ask whether apps are to be removed."""
    print_difference(removal, Format.TEXT)
    names = ", ".join(change.name for change in removal.apps)
    return typer.confirm(f"The YAML does not have {names}. Remove what is listed above?")

"""`tidegate diff`: `tidegate plan` under the word that git users expect, and the same for git revisions.

Without a revision it compares the store with the YAML. With one it compares the YAML of that revision with
the YAML of the folder, with two the first with the second: the store is not opened, and the answer
leaves out what a change does to live jobs. Exit codes are those of `tidegate plan`.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.checked_yaml import end_unless_ok, known_apps
from tidegate.cli.develop.difference import print_difference
from tidegate.cli.develop.plan import (
    EXIT_CHANGES,
    EXIT_REFUSED,
    AppOption,
    ImportsOption,
    PlanFormat,
    RemoveOption,
    UpdateOption,
    compiled_apps,
    own_apps,
    plan,
)
from tidegate.cli.printing import Format, FormatOption
from tidegate.domain.error import UserError

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.domain.model import App
    from tidegate.project.settings.settings import Settings


def diff(
    old: Annotated[
        str | None,
        typer.Argument(help="A git revision of the YAML; without it, the store.", show_default=False),
    ] = None,
    new: Annotated[
        str | None,
        typer.Argument(help="Another revision; without it, the YAML of the folder.", show_default=False),
    ] = None,
    update_schedules: UpdateOption = None,
    app: AppOption = None,
    remove_apps: RemoveOption = False,
    imports: ImportsOption = None,
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what a deploy would change, or what changed between two git revisions of the YAML."""
    from tidegate.project.settings.settings import load_settings

    if old is None:
        plan(update_schedules, app, remove_apps, imports, format=PlanFormat(format))
        return
    if update_schedules is not None or remove_apps:
        raise typer.BadParameter("options of a deployment have no effect between revisions of the YAML")
    settings = load_settings()
    before = _apps_of(settings, old, format)
    after = compiled_apps(settings, format) if new is None else _apps_of(settings, new, format)
    found = between(before, after, own_apps(settings, app))
    print_difference(found, format)
    if found.refused:
        raise typer.Exit(EXIT_REFUSED)
    if not found.empty:
        raise typer.Exit(EXIT_CHANGES)


def between(before: "Mapping[str, App]", after: "Mapping[str, App]", only: Sequence[str] | None) -> "Diff":
    """The difference between two revisions, without consequences: those depend on what is deployed.

    Raises:
        UserError: neither revision has an app that is named.
    """
    import msgspec

    from tidegate.compiler.plan.diff import diff
    from tidegate.domain.suggest import did_you_mean

    known = sorted({*before, *after})
    for name in only or ():
        if name not in known:
            raise UserError(f'neither revision has an app "{name}"', did_you_mean(name, known, "apps"))

    def chosen(apps: "Mapping[str, App]") -> "Mapping[str, App]":
        return {name: app for name, app in apps.items() if not only or name in only}

    found = diff(chosen(before), chosen(after))
    apps = tuple(
        msgspec.structs.replace(
            change,
            schedules=tuple(msgspec.structs.replace(each, consequences=()) for each in change.schedules),
        )
        for change in found.apps
    )
    return msgspec.structs.replace(found, apps=apps)


def _apps_of(settings: "Settings", revision: str, format: Format) -> "Mapping[str, App]":
    from tidegate.compiler.compile import compile_files
    from tidegate.compiler.scope.formats import Formats
    from tidegate.project.revision import files_of_revision, read_revision

    compilation = compile_files(
        files_of_revision(settings, revision),
        on_update=settings.on_update,
        formats=Formats(default=settings.default_format),
        known=known_apps(settings),
        variables=settings.variables,
        read_file=read_revision(settings, revision),
    )
    end_unless_ok(compilation, format)
    return compilation.models()

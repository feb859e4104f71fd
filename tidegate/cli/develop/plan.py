"""`tidegate plan`: the changes that a deploy would make, and their effect on live jobs.

It reads the store and does not change it; a missing store counts as empty. Exit code 0 without
changes, 2 with changes, 1 on errors and if `tidegate deploy` would refuse the changes, so that a
CI pipeline can use it.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from tidegate.cli.checked_yaml import (
    LocationsOption,
    RequireLocationsOption,
    check_yaml,
    compared,
    end_unless_ok,
    formats_of,
)
from tidegate.cli.develop.difference import difference_lines, print_difference
from tidegate.cli.printing import Format
from tidegate.domain.error import UserError
from tidegate.domain.value import without_collection

if TYPE_CHECKING:
    from tidegate.compiler.plan.ownership import Scope
    from tidegate.domain.model import App
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.store.engine_reader import EngineReader


class PlanFormat(StrEnum):
    """The output format of a plan."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


EXIT_REFUSED = 1
EXIT_CHANGES = 2

UpdateOption = Annotated[
    bool | None,
    typer.Option(
        "--update-schedules/--no-update-schedules",
        help="Update schedules to the YAML. If not, delete only those of removed programs and apps."
        " Default: [deploy] update_schedules in tidegate.toml, or yes.",
        show_default=False,
    ),
]
AppOption = Annotated[
    list[str] | None,
    typer.Option("--app", help="Only this app; may be repeated.", metavar="NAME", show_default=False),
]
ImportsOption = Annotated[
    bool | None,
    typer.Option(
        "--imports/--no-imports",
        help="Import the programs in a child process. Default: [deploy] check_imports in tidegate.toml,"
        " or yes.",
        show_default=False,
    ),
]
RemoveOption = Annotated[
    bool, typer.Option("--remove-apps", help="Remove apps of the project that the YAML does not have.")
]


@without_collection()
def plan(
    update_schedules: UpdateOption = None,
    app: AppOption = None,
    remove_apps: RemoveOption = False,
    imports: ImportsOption = None,
    locations: LocationsOption = None,
    require_locations: RequireLocationsOption = False,
    out: Annotated[
        Path | None,
        typer.Option(help="A file for the plan, which `deploy --plan` applies.", metavar="FILE"),
    ] = None,
    format: Annotated[
        PlanFormat, typer.Option(help="For people, for tools, or for a comment of at most 60,000 characters.")
    ] = PlanFormat.TEXT,
) -> None:
    """Show what a deploy would change; exit code 2 if there are changes, 1 if they would be refused."""
    from tidegate.cli.opened_store import deployed_state
    from tidegate.compiler.render.diff_json import diff_json
    from tidegate.project.saved_plan import Options, SavedPlan, basis_of, write_plan
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deployment.live import compared
    from tidegate.scheduler.explain.operations.coverage import coverage, load_known

    settings = load_settings()
    for_tools = Format.JSON if format is PlanFormat.JSON else Format.TEXT
    only = own_apps(settings, app)
    checked = checked_apps(
        settings,
        for_tools,
        imports=imports,
        locations=locations,
        require_locations=require_locations,
        removed=only if remove_apps else (),
    )
    wanted = checked.apps
    update = settings.update_schedules if update_schedules is None else update_schedules
    with deployed_state(settings) as reader:
        scope = project_scope(reader, settings, wanted, only, remove_apps)
        found, _, deployed = compared(
            reader, wanted, update_schedules=update, scope=scope, digests=checked.digests
        )
        covered = coverage(load_known(reader, wanted, deployed), found)
        waiting = waiting_for_host(reader, settings, wanted)
        if out is not None and not found.refused:
            options = Options(update_schedules=update, app=only, remove_apps=remove_apps)
            basis = basis_of(settings, wanted, reader)
            made = SavedPlan(
                made_at=datetime.now(UTC), options=options, basis=basis, changes=diff_json(found)
            )
            write_plan(out, made)
    if format is PlanFormat.MARKDOWN:
        from tidegate.compiler.render.plan_markdown import plan_markdown

        lines = difference_lines(found, wanted, covered, checked.selections, waiting)
        typer.echo(plan_markdown(settings.name, settings.environment, found, lines))
    else:
        print_difference(found, for_tools, wanted, covered, checked.selections, waiting)
    if found.refused:
        raise typer.Exit(EXIT_REFUSED)
    if not found.empty:
        raise typer.Exit(EXIT_CHANGES)


def own_apps(settings: "Settings", names: "Sequence[str] | None") -> tuple[str, ...] | None:
    """Return the apps of the project that are named, without the namespace; None for all.

    Raises:
        UserError: the namespace is not that of the project.
    """
    from tidegate.domain.part_name import namespace_and_app

    if not names:
        return None
    found: list[str] = []
    for name in names:
        namespace, app = namespace_and_app(name)
        if namespace not in ("", settings.namespace):
            raise UserError(
                f'the apps of project {settings.name} are in the namespace "{settings.namespace}",'
                f' got "{name}"',
                f"write {settings.namespace}/{app}, or {app}",
            )
        found.append(app)
    return tuple(dict.fromkeys(found))


def project_scope(
    reader: "EngineReader",
    settings: "Settings",
    wanted: "Mapping[str, App]",
    only: "Sequence[str] | None",
    remove_apps: bool,
) -> "Scope":
    """Return the scope of a deployment from this project.

    Args:
        only: the given apps; None means all apps of the project.
        remove_apps: whether to remove apps of the project that the YAML does not have.

    Raises:
        UserError: a given app is not in the YAML or the project's part of the store.
    """
    from tidegate.compiler.plan.ownership import Scope, Storage
    from tidegate.domain.suggest import did_you_mean

    own = {deployed.name for deployed in reader.app_headers() if deployed.project == settings.name}
    known = sorted({*wanted, *own})
    for name in only or ():
        if name not in known:
            raise UserError(f'project {settings.name} has no app "{name}"', did_you_mean(name, known, "apps"))
    return Scope(
        project=settings.name,
        namespace=settings.namespace,
        only=frozenset(only) if only else None,
        removable=None if remove_apps else frozenset(),
        storage=Storage(paths_from=str(settings.paths_from), warehouse=str(settings.warehouse)),
    )


def waiting_for_host(
    reader: "EngineReader", settings: "Settings", wanted: "Mapping[str, App]"
) -> tuple[str, ...]:
    """Return the programs that only a host can launch, where none is active; see `without_host`."""
    from tidegate.project.beside import lists_others_only
    from tidegate.scheduler.launch.obstacles import without_host

    merged = lists_others_only(settings.project)
    return without_host(reader, wanted, settings.name, datetime.now(UTC), merged=merged)


class CheckedApps(NamedTuple):
    """The apps of the project's YAML.

    Attributes:
        selections: the assets of each program that selects some, by "app/program", where they were compared.
        digests: of apps, by name, as far as they are known (`content_digest`).
    """

    apps: "Mapping[str, App]"
    selections: "Mapping[str, tuple[str, ...]]"
    digests: "Mapping[str, str]"


def compiled_apps(settings: "Settings", format: Format) -> "Mapping[str, App]":
    """Return the apps of the project's YAML, without a look at their programs; see `checked_apps`."""
    return checked_apps(settings, format, imports=False).apps


def checked_apps(
    settings: "Settings",
    format: Format,
    *,
    imports: bool | None = None,
    locations: str | None = None,
    require_locations: bool = False,
    removed: "Collection[str] | None" = (),
) -> CheckedApps:
    """Return the apps of the project's YAML; print the diagnostics, and exit if one is an error.

    Args:
        imports: also import the programs, in a child process; None for what the settings say.
        locations, require_locations: see `compared`.
        removed: see `known_apps`.
    """
    # The store keeps the positions; they must not depend on the working folder of the command.
    compilation = check_yaml(
        [settings.schedules],
        settings,
        base=settings.project,
        without=settings.undeployed,
        today=datetime.now(UTC).date(),
        formats=formats_of(settings),
        everywhere=True,
        removed=removed,
    )
    if settings.check_imports if imports is None else imports:
        from tidegate.project.imports import check_imports

        compilation = check_imports(compilation, settings.project)
    compilation, selections = compared(compilation, lambda: settings, locations, require_locations)
    end_unless_ok(compilation, format)
    return CheckedApps(compilation.models(), selections, compilation.digests())

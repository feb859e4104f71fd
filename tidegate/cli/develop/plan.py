"""`tidegate plan`: the changes that a deploy would make, and their effect on live jobs.

It reads the store and does not change it; a missing store counts as empty. Exit code 0 without
changes, 2 with changes, 1 on errors and if `tidegate deploy` would refuse the changes, so that a
CI pipeline can use it.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import msgspec
import typer

from tidegate.cli.checked_yaml import (
    LocationsOption,
    RequireLocationsOption,
    check_yaml,
    compared,
    end_unless_ok,
    formats_of,
)
from tidegate.cli.printing import Format, FormatOption, print_json
from tidegate.domain.error import UserError
from tidegate.domain.value import without_collection
from tidegate.domain.wording import plural
from tidegate.scheduler.explain.operations.coverage import Coverage, Moved, PolicyCoverage
from tidegate.scheduler.model.maintenance import Untouched

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.compiler.plan.ownership import Scope
    from tidegate.domain.model import App
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.store.engine_reader import EngineReader


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
    format: FormatOption = Format.TEXT,
) -> None:
    """Show what a deploy would change; exit code 2 if there are changes, 1 if they would be refused."""
    from tidegate.cli.opened_store import deployed_state
    from tidegate.compiler.render.diff_json import diff_json
    from tidegate.project.saved_plan import Options, SavedPlan, basis_of, write_plan
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.commands.deployment.live import compared
    from tidegate.scheduler.explain.operations.coverage import coverage, load_known

    settings = load_settings()
    only = own_apps(settings, app)
    checked = checked_apps(
        settings,
        format,
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
    print_difference(found, format, wanted, covered, checked.selections, waiting)
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


def print_difference(
    difference: "Diff",
    format: Format,
    detected: "Mapping[str, App] | None" = None,
    covered: "Coverage | None" = None,
    selections: "Mapping[str, tuple[str, ...]] | None" = None,
    waiting: Sequence[str] = (),
) -> None:
    """Print a difference as text or JSON.

    Args:
        detected: the apps of which the detected upstream tasks are printed too.
        covered: what it changes for the tables of the policies; None where nothing is deployed by it.
        selections: the assets that programs select, by "app/program".
        waiting: the programs that only a host can launch, where none is active.
    """
    from tidegate.compiler.plan.stages import STAGES
    from tidegate.compiler.render.detected import detected_json, detected_lines
    from tidegate.compiler.render.diff_json import diff_json
    from tidegate.compiler.render.diff_text import diff_text

    if format is Format.JSON:
        notes = {} if detected is None else {"detected": detected_json(detected.values())}
        tables = {} if covered is None else {"maintenance": coverage_json(covered)}
        chosen = {"selections": selections} if selections else {}
        hostless = {"waiting_for_host": list(waiting)} if waiting else {}
        print_json({**diff_json(difference), **notes, **tables, **chosen, **hostless})
    else:
        for program, assets in (selections or {}).items():
            typer.echo(f"{program} selects {plural(len(assets), 'asset')}: {', '.join(assets)}")
        for line in detected_lines(() if detected is None else detected.values()):
            typer.echo(line)
        typer.echo(diff_text(difference))
        if covered is not None:
            for line in coverage_lines(covered):
                typer.echo(line)
            if not (difference.empty or difference.refused):
                typer.echo(f"order: {', '.join(STAGES)}")
        if waiting:
            typer.echo(f"note[W-HOST]: {_named(waiting)}: no host is active: tidegate host")


TABLES_NAMED = 5
"""So many tables are named in a line."""


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Yield the lines that follow the difference; none where nothing changes for any table."""
    moved = [each for each in coverage.moved if each.before is not None]
    if coverage.policies or moved:
        yield ""
        yield "Tables of the policies:"
    for policy in coverage.policies:
        yield from _policy(policy)
    for each in moved:
        yield f"  {_moved(each)}"
    if coverage.unmatched:
        yield ""
    for each in coverage.unmatched:
        yield f"warning: policy {each.policy}: no known table matches the exact pattern {each.pattern}"


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """Return the coverage as builtin values."""
    return msgspec.to_builtins(coverage)


def _policy(policy: PolicyCoverage) -> Iterator[str]:
    counts = [plural(policy.tables, "table")]
    counts += [
        f"{len(names)} {word}" for word, names in (("new", policy.new), ("lost", policy.lost)) if names
    ]
    yield f"  policy {policy.policy}: {', '.join(counts)}"
    for word, names in (("new", policy.new), ("lost", policy.lost)):
        if names:
            yield f"      {word}: {_named(names)}"
    for why, names in (
        (Untouched.NEVER_PUBLISHED, policy.never_published),
        (Untouched.LANDED, policy.landed),
    ):
        if names:
            yield f"      {why}, nothing is started on {_them(names)}: {_named(names)}"
    if policy.discarded:
        are = "is" if policy.discarded == 1 else "are"
        yield f"      -> {plural(policy.discarded, 'waiting job')} {are} discarded with D-DELETED"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _moved(each: Moved) -> str:
    by = "by no policy" if each.after is None else f"by policy {each.after}"
    return f"{each.operation} of {_named(each.tables)}: {by}, before by {each.before}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - TABLES_NAMED
    return ", ".join(names[:TABLES_NAMED]) + (f" and {more:,} more" if more > 0 else "")

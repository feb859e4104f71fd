"""The YAML of a project, checked with what its settings and its store know.

A file may name datasets and programs of apps that are not among the files: those that are deployed in the
project's store, perhaps by another project. The store is opened only when such a name is found, so that
other checks stay fast and need no store.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from tidegate.cli.printing import Format, print_json
from tidegate.domain.error import UserError
from tidegate.domain.model import App

if TYPE_CHECKING:
    from tidegate.compiler.compile import Compilation
    from tidegate.compiler.scope.formats import Formats
    from tidegate.project.locations import Compared
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.store.engine_reader import EngineReader

T = TypeVar("T")

LocationsOption = Annotated[
    str | None,
    typer.Option(
        "--locations",
        help="Load the code locations, and compare the programs that exist in them. FILE lists them: a"
        " workspace.yaml or pyproject.toml; default: the project's, else that of DAGSTER_HOME.",
        metavar="[FILE]",
        show_default=False,
    ),
]
RequireLocationsOption = Annotated[
    bool,
    typer.Option(
        "--require-locations", help="As --locations, and a location that does not load is an error."
    ),
]


def check_yaml(
    paths: Iterable[Path],
    settings: "Settings | None" = None,
    *,
    base: Path | None = None,
    without: Iterable[Path] = (),
    today: date | None = None,
    formats: "Formats | None" = None,
    everywhere: bool = False,
    removed: "Collection[str] | None" = (),
) -> "Compilation":
    """Compile every YAML file at or below some paths.

    Args:
        settings: the project's settings; default: those of the working folder, if it is in a project.
        base, without, today: see `compile_paths`.
        formats: those of deployed datasets, which they keep, and of new ones; default: all are new.
        everywhere: upstream tasks are detected in all apps of the store, which tasks then always open.
        removed: see `known_apps`.
    """
    from contextlib import nullcontext

    from tidegate.compiler.rules.house import NO_RULES
    from tidegate.compiler.rules.named_settings import NamedSettings
    from tidegate.compiler.rules.namespaces import NO_NAMESPACES, Namespaces
    from tidegate.compiler.scope.formats import NO_FORMATS, Formats
    from tidegate.project.compile_cache import CompileCache
    from tidegate.project.yaml_files import compile_paths

    settings = settings or settings_here()
    cache = None if settings is None else CompileCache(settings.project)
    with nullcontext() if cache is None else cache.writing():
        return compile_paths(
            paths,
            base,
            without,
            today,
            "reset" if settings is None else settings.on_update,
            formats=formats or (NO_FORMATS if settings is None else Formats(default=settings.default_format)),
            known=known_apps(settings, removed),
            warehouse=None if settings is None else settings.warehouse_folder,
            drafts=() if settings is None else settings.undeployed,
            everywhere=everywhere,
            variables=variables_of(settings),
            rules=NO_RULES if settings is None else settings.rules,
            named=(
                None
                if settings is None
                else NamedSettings(channels=settings.channels, clusters=settings.clusters)
            ),
            project=None if settings is None else settings.project,
            jobs_kept=None if settings is None else settings.retention.finished_jobs,
            namespaces=(
                NO_NAMESPACES
                if settings is None
                else Namespaces(own=settings.namespace, deployed=known_namespaces(settings))
            ),
            cache=cache,
        )


def compared(
    compilation: "Compilation",
    settings: "Callable[[], Settings | None]",
    locations: str | None,
    required: bool,
) -> "Compared":
    """Return the compilation with what disagrees with the loaded code locations, if that is asked for.

    Args:
        locations: the file that lists them; "" for those of the project, None for no comparison.
        required: a location that does not load is an error; it asks for the comparison too.
    """
    from tidegate.project.locations import Compared, compare_locations

    if locations is None and not required:
        return Compared(compilation, {})
    found = settings()
    project = Path.cwd() if found is None else found.project
    return compare_locations(compilation, project, _lists(found, project, locations or ""), required=required)


def _lists(settings: "Settings | None", project: Path, file: str) -> tuple[Path, ...]:
    """Return the files that may list code locations: the given one, or those of the project and its Dagster.

    Raises:
        UserError: there is no such file.
    """
    import os

    from tidegate.processes.home import HOME_VARIABLE, WORKSPACE_NAME, home_in_use
    from tidegate.project.beside import PYPROJECT

    if file:
        path = Path(file).expanduser().resolve()
        if not path.is_file():
            raise UserError(
                f"there is no file {file} that lists code locations",
                f"name a {WORKSPACE_NAME}, or a {PYPROJECT} with [tool.dagster] or [tool.dg]",
            )
        return (path,)
    home = os.environ.get(HOME_VARIABLE) if settings is None else home_in_use(settings)
    of_home = (Path(home).resolve() / WORKSPACE_NAME,) if home else ()
    return (project / WORKSPACE_NAME, project / PYPROJECT, *of_home)


def end_unless_ok(compilation: "Compilation", format: Format) -> None:
    """Print the diagnostics, and end the command if one of them is an error."""
    from tidegate.compiler.render.diagnostics.json import diagnostics_json
    from tidegate.compiler.render.diagnostics.text import diagnostics_text, summary_text

    found = compilation.diagnostics
    if found and format is Format.TEXT:
        typer.echo(f"{diagnostics_text(found)}\n\n{summary_text(found)}", err=True)
    if not compilation.ok:
        if format is Format.JSON:
            print_json({"diagnostics": diagnostics_json(found)})
        raise typer.Exit(1)


def variables_of(settings: "Settings | None") -> "Mapping[str, str]":
    """Return the values of variables in YAML; outside a project, those of the process."""
    import os

    return dict(os.environ) if settings is None else settings.variables


def settings_here() -> "Settings | None":
    """Return the settings of the working folder's project; None outside a project."""
    from tidegate.project.settings.language import SettingsError
    from tidegate.project.settings.settings import find_settings_file, load_settings

    try:
        find_settings_file()
    except SettingsError:
        return None
    return load_settings(may_lack=True)


def formats_of(settings: "Settings") -> "Formats":
    """Return the formats of new and of deployed datasets."""
    from tidegate.cli.opened_store import ask_store
    from tidegate.compiler.scope.formats import Formats, StoredFormats
    from tidegate.scheduler.model.deployed import APPS

    def read(apps: Collection[str]) -> "list[App]":
        return ask_store(settings, lambda reader: [each.app for each in reader.records(APPS, name=apps)], [])

    headers = ask_store(settings, lambda reader: reader.app_headers(), ())
    return Formats(
        default=settings.default_format,
        deployed=StoredFormats([each.name for each in headers], read),
        digests={each.name: each.digest for each in headers if each.digest},
    )


def known_apps(
    settings: "Settings | None", removed: "Collection[str] | None" = ()
) -> Callable[[], Mapping[str, App]]:
    """Return a function that reads the deployed apps; none where there is no store, or with a warning.

    Args:
        removed: which apps of the project are known by its files alone, since a deployment removes those that
            are in none; None for all.
    """

    def read() -> Mapping[str, App]:
        from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps

        if settings is None:
            return {}
        own = settings.name

        def known(reader: "EngineReader") -> Mapping[str, App]:
            mine = {each.name for each in reader.app_headers() if each.project == own}
            gone = mine if removed is None else mine.intersection(removed)
            return {name: app for name, app in deployed_apps(reader).items() if name not in gone}

        return _asked(settings, known if removed is None or removed else deployed_apps)

    return read


def known_namespaces(settings: "Settings") -> Callable[[], Mapping[str, str]]:
    """Return a function that reads the namespaces of the deployed apps, by name; see `known_apps`."""

    def read() -> Mapping[str, str]:
        from tidegate.scheduler.store.engine_reader import namespaces_of_apps

        return _asked(settings, namespaces_of_apps)

    return read


def _asked(settings: "Settings", question: "Callable[[EngineReader], Mapping[str, T]]") -> "Mapping[str, T]":
    """Ask the store of a project; the answer is empty without a store, and with a warning if it fails."""
    from tidegate.cli.opened_store import ask_store
    from tidegate.project.settings.settings import load_settings

    try:
        return ask_store(load_settings() if settings.unset else settings, question, {})
    except UserError as error:
        typer.echo(f"warning: apps of other projects cannot be looked up: {error}", err=True)
        return {}

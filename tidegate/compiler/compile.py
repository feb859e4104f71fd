"""The entry point of the compiler.

`compile_files` reads, checks and builds every file and collects all diagnostics; an error in one file
does not affect the others.
"""

from collections.abc import Callable, Collection
from collections.abc import Mapping as Files
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings, Related
from tidegate.compiler.kept_file import Cache
from tidegate.compiler.outline import Outline
from tidegate.compiler.reader import MappingNode, plain
from tidegate.compiler.reader.json_text import JsonText
from tidegate.compiler.rules.across_apps import (
    Limits,
    check_assets,
    check_auto_pools,
    check_group_limits,
    check_one_maintenance,
    check_unused,
    used_programs,
)
from tidegate.compiler.rules.cycles.schedules import check_cycles_across
from tidegate.compiler.rules.cycles.tasks import check_task_cycles
from tidegate.compiler.rules.datasets.own_folder import Folders
from tidegate.compiler.rules.former_names import check_former_app
from tidegate.compiler.rules.lost_parts import check_lost_parts
from tidegate.compiler.rules.namespaces import NO_NAMESPACES, Namespaces, check_namespaces
from tidegate.compiler.rules.times.polls import check_polls
from tidegate.compiler.rules.triggers.repair import check_repairs
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.compiler.scope.others import Known, OtherApp, Others, nothing_known
from tidegate.compiler.scope.project_files import ReadFile, no_files
from tidegate.compiler.source import Inputs, Source, document_source, file_source
from tidegate.compiler.upstream import FileApp, link_files, stages
from tidegate.domain.model import App, At, Maintenance, OnUpdate
from tidegate.domain.model.others import with_others
from tidegate.domain.model.table_format import LANDED, DatasetFormat
from tidegate.domain.value import Value

if TYPE_CHECKING:
    from tidegate.compiler.scenarios.model.scenario import Scenario


class CompiledApp(Value, kw_only=True):
    """An app without errors.

    Attributes:
        read_root: returns `root`; of a file that was compiled before, it is read only then.
        outline: the nodes of its file that later checks need.
        scenarios: the scenarios under `examples:`, see tidegate.compiler.scenarios.model.scenario.
        default_format: the format of new datasets that name none.
        others: the other apps of which it names parts, by name; of their schedules only the tasks for which
            its own tasks wait, and of an app of the store all.
        digest: of the app, if it is known (`content_digest`); else "".
    """

    app: App
    read_root: Callable[[], MappingNode]
    outline: MappingNode
    scenarios: "tuple[Scenario, ...]" = ()
    on_update: OnUpdate = "reset"
    default_format: DatasetFormat = LANDED
    others: tuple[App, ...] = ()
    digest: str = ""

    @property
    def file(self) -> str:
        """The file from which it was read."""
        return self.app.at.file if self.app.at else ""

    @property
    def root(self) -> MappingNode:
        """The whole file as nodes with places."""
        return self.read_root()

    @property
    def document(self) -> dict[str, Any]:
        """The YAML as builtin values, without defaults."""
        return plain(self.root)


class Compilation(Value, kw_only=True):
    """The result of compiling a set of files.

    Attributes:
        apps: the apps without errors, by name.
        diagnostics: the diagnostics of all files, sorted by place.
    """

    apps: dict[str, CompiledApp]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether no error was found; warnings do not count."""
        return not any(d.severity == "error" for d in self.diagnostics)

    def models(self) -> dict[str, App]:
        """Return the models of the apps, by name."""
        return {name: compiled.app for name, compiled in self.apps.items()}

    def digests(self) -> dict[str, str]:
        """Return the digests of apps as far as they are known, by name."""
        return {name: compiled.digest for name, compiled in self.apps.items() if compiled.digest}


class _Built(NamedTuple):
    """A file with its app, and the other apps of which it names parts."""

    source: Source
    outline: Outline
    app: App
    named: tuple[App, ...]


def compile_files(
    files: Files[str, bytes],
    today: date | None = None,
    on_update: OnUpdate = "reset",
    *,
    formats: Formats = NO_FORMATS,
    known: Known = nothing_known,
    warehouse: str | None = None,
    drafts: Collection[str] = (),
    everywhere: bool = True,
    documents: Files[str, JsonText] | None = None,
    variables: Files[str, str] | None = None,
    namespaces: Namespaces = NO_NAMESPACES,
    read_file: ReadFile = no_files,
    jobs_kept: timedelta | None = None,
    cache: Cache | None = None,
) -> Compilation:
    """Compile files, each of which holds one app.

    Args:
        files: contents by file name; diagnostics print the name unchanged.
        today: notes are given for the special dates after it; None for no notes.
        on_update: the default of schedules that do not have it.
        formats: the formats of datasets that name none.
        known: the deployed apps, of which a file may name parts; an app of a file comes first.
        warehouse: the folder of the warehouse, relative to where paths begin (`Folders`).
        drafts: names of files that are not deployed; they may use the folders of other files.
        everywhere: upstream tasks are detected in all deployed apps; else only if a file names one of them.
        documents: further apps that are not files but values, by the name that their diagnostics have.
        variables: the values of `${env.NAME}` in files, by name; a document refers to none.
        namespaces: of the files' project and of the deployed apps, for names that have one.
        read_file, jobs_kept: the files of the project, and how long it keeps finished jobs; None without end.
        cache: keeps what is made of each file by itself.

    Returns:
        The apps without errors, and all diagnostics. No content of a file raises an exception.
    """
    inputs = Inputs(on_update, formats, today, variables or {}, read_file, cache)
    sources = _sources(files, documents or {}, inputs)
    others = Others(files=_offers(sources), known=known)
    built = _built(sources, others, everywhere=everywhere)
    first = _by_name(built, warehouse, drafts)
    everything = _check_across(first, others, jobs_kept)
    complete = all(not source.findings.failed for source in sources)
    used = used_programs((*(each.app for each in first.values()), *others.of_store()))
    _check_groups_and_maintenance(built, first, drafts, everything)
    apps: dict[str, CompiledApp] = {}
    for source, outline, app, named in built:
        findings = source.findings
        check_former_app(outline.root, first, namespaces, findings)
        check_namespaces(outline.root, first, namespaces, findings)
        if complete:
            check_unused(app, used, findings)
        scenarios = _scenarios(source, outline, app, named)
        if complete and (outline.examples or source.kept is None):
            # A part may also be left out because of an error in another file.
            check_lost_parts(source.root(), app, len(scenarios), findings)
        if not findings.failed:
            findings.take(source.notes)
            apps[app.name] = CompiledApp(
                app=app,
                read_root=source.root,
                outline=outline.root,
                scenarios=scenarios,
                on_update=on_update,
                default_format=formats.default,
                others=stages(app, named, everything),
                digest=source.digest_of(app),
            )
    return Compilation(apps=apps, diagnostics=_diagnostics(sources))


def _diagnostics(sources: list[Source]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics by place; a file that two programs name has each once."""
    found = dict.fromkeys(each for source in sources for each in source.findings.diagnostics())
    return tuple(sorted(found, key=Diagnostic.sort_key))


def _scenarios(source: Source, outline: Outline, app: App, named: tuple[App, ...]) -> "tuple[Scenario, ...]":
    """Return the scenarios of an app; without examples their reader is not loaded."""
    if not outline.examples:
        return ()
    from tidegate.compiler.scenarios.reader import read_scenarios

    return read_scenarios(source.root(), with_others(app, named), source.findings, source.broken)


def _built(sources: list[Source], others: Others, *, everywhere: bool) -> list[_Built]:
    """Return the apps of the files that could be read, with their upstream tasks."""
    built = [_Built(source, *source.built(others)) for source in sources if source.readable]
    for source in sources:
        source.keep()
    file_apps = [FileApp(each.outline.root, each.app, each.source.findings) for each in built]
    linked = link_files(file_apps, others, everywhere=everywhere)
    return [each._replace(app=app) for each, app in zip(built, linked, strict=True)]


def _by_name(built: list[_Built], warehouse: str | None, drafts: Collection[str]) -> dict[str, _Built]:
    """Return the first file of each app; report further ones, and folders that two apps use."""
    folders = Folders(warehouse)
    first: dict[str, _Built] = {}
    for each in built:
        app, findings = each.app, each.source.findings
        (Folders(warehouse) if findings.file in drafts else folders).check(app, findings)
        earlier = first.setdefault(app.name, each).app if app.name else app
        if earlier is not app and earlier.at is not None:
            _report_duplicate_name(each.outline.root, app, earlier.at, findings)
    return first


def _check_groups_and_maintenance(
    built: list[_Built], first: Files[str, _Built], drafts: Collection[str], everything: Files[str, App]
) -> None:
    """Warn of clashing limits of groups and of what is finer than a poll; report a second `maintenance`.

    Without `maintenance` in the files that of a deployed app counts, if the store was looked at.
    """
    limits: Limits = {}
    for each in built:
        check_group_limits(each.app, limits, each.source.findings)
    settings = check_one_maintenance(
        (each.app, each.source.findings) for each in first.values() if each.source.findings.file not in drafts
    )
    deployed = (app.maintenance for name, app in sorted(everything.items()) if name not in first)
    settings = settings or next((each for each in deployed if each is not None), Maintenance())
    for each in built:
        app, findings = each.app, each.source.findings
        check_polls(app, (app.maintenance or settings).poll, findings)
        check_auto_pools(app, limits, findings)


def _check_across(first: Files[str, _Built], others: Others, jobs_kept: timedelta | None) -> dict[str, App]:
    """Report cycles through several apps, and what cannot be repaired.

    Returns:
        All apps that are known, those of files first.
    """
    findings = {name: each.source.findings for name, each in first.items()}
    apps = {name: each.app for name, each in first.items()}
    check_cycles_across((*apps.values(), *others.of_store()), findings)
    check_assets(
        ((app, findings[name]) for name, app in apps.items()),
        lambda: (app for name, app in others.deployed().items() if name not in apps),
    )
    everything = {**apps, **others.known_so_far()}
    check_task_cycles(tuple(everything.values()), findings)
    check_repairs(everything.values(), findings, jobs_kept)
    return everything


def _sources(files: Files[str, bytes], documents: Files[str, JsonText], inputs: Inputs) -> list[Source]:
    """Read the apps of files, and of values; a file that holds rows for another one is not an app."""
    sources = [file_source(file, files[file], inputs) for file in sorted(files)]
    rows = {name for source in sources for name in source.files.beside()}
    apps = [each for each in sources if each.readable or each.findings.file not in rows]
    return apps + [document_source(*each, inputs) for each in sorted(documents.items())]


def _offers(sources: list[Source]) -> dict[str, Callable[[], OtherApp]]:
    found: dict[str, Callable[[], OtherApp]] = {}
    for source in sources:
        if source.readable:
            found.setdefault(source.app_name, source.offered)
    return found


def _report_duplicate_name(root: MappingNode, app: App, earlier: At, findings: Findings) -> None:
    findings.add(
        "N304",
        root.values["app"],
        f'the name of an app is unique, got "{app.name}" again',
        "rename one of the two apps",
        (Related(at=earlier, note="the first one is here"),),
    )

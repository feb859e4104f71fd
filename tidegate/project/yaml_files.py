"""The reader of a project's YAML files, which passes their contents to the compiler.

The compiler does not read files. An unreadable file becomes a diagnostic, so that the
diagnostics of the other files are still reported.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from pathlib import Path

from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.compiler.kept_file import Cache
from tidegate.compiler.reader.text import MAX_FILE_BYTES
from tidegate.compiler.rules.house import NO_RULES, HouseRules, house_diagnostics
from tidegate.compiler.rules.named_settings import NamedSettings, diagnose_named_settings
from tidegate.compiler.rules.namespaces import NO_NAMESPACES, Namespaces
from tidegate.compiler.scope.formats import NO_FORMATS, Formats
from tidegate.compiler.scope.others import Known, nothing_known
from tidegate.domain.model import At, OnUpdate
from tidegate.domain.value import Value
from tidegate.project.named_files import files_of_project, shown_name

SUFFIXES = (".yaml", ".yml")

MAX_FILES = 10_000
"""The maximum number of files below a folder; with more the folder was probably given by mistake."""


class YamlFiles(Value, kw_only=True):
    """The contents of YAML files.

    Attributes:
        contents: file contents by the name shown in messages.
        diagnostics: diagnostics of unreadable files.
    """

    contents: dict[str, bytes]
    diagnostics: tuple[Diagnostic, ...] = ()


def compile_paths(
    paths: Iterable[Path],
    base: Path | None = None,
    without: Iterable[Path] = (),
    today: date | None = None,
    on_update: OnUpdate = "reset",
    *,
    formats: Formats = NO_FORMATS,
    known: Known = nothing_known,
    warehouse: str | None = None,
    drafts: Iterable[Path] = (),
    everywhere: bool = True,
    variables: Mapping[str, str] | None = None,
    rules: HouseRules = NO_RULES,
    named: NamedSettings | None = None,
    namespaces: Namespaces = NO_NAMESPACES,
    project: Path | None = None,
    jobs_kept: timedelta | None = None,
    cache: Cache | None = None,
) -> Compilation:
    """Compile every YAML file at or below some paths; unreadable files are diagnostics.

    Args:
        base: folder to which file names are relative; default: the working folder.
        without: files and folders below the paths to leave out.
        today, on_update, formats, known, warehouse, everywhere, variables, namespaces: see `compile_files`.
        jobs_kept, cache: see `compile_files`.
        drafts: files and folders that are not deployed; the project's rules do not count there.
        rules: the project's own, beside those of the language.
        named: the channels and clusters that may be named; None: any.
        project: the folder to which the files that the YAML names are relative; default: `base`, or the
            working folder.
    """
    files = read_files(paths, base, without)
    not_deployed = _named_below(files.contents, drafts, base)
    compilation = compile_files(
        files.contents,
        today,
        on_update,
        formats=formats,
        known=known,
        warehouse=warehouse,
        drafts=not_deployed,
        everywhere=everywhere,
        variables=variables,
        namespaces=namespaces,
        read_file=files_of_project(project or base or Path.cwd(), base),
        jobs_kept=jobs_kept,
        cache=cache,
    )
    apps = [app for app in compilation.models().values() if app.at is None or app.at.file not in not_deployed]
    broken = house_diagnostics(apps, rules, lambda at: _line(files.contents, at))
    unknown = [
        diagnostic
        for each in compilation.apps.values()
        if each.file not in not_deployed
        for diagnostic in diagnose_named_settings(
            each.outline, named, each.file, files.contents.get(each.file, b"").decode("utf-8")
        )
    ]
    found = (*files.diagnostics, *compilation.diagnostics, *broken, *unknown)
    together = sorted(found, key=Diagnostic.sort_key)
    return Compilation(apps=compilation.apps, diagnostics=tuple(together))


def read_files(paths: Iterable[Path], base: Path | None = None, without: Iterable[Path] = ()) -> YamlFiles:
    """Read files, and the YAML files below folders except hidden ones.

    Args:
        base: folder to which file names are relative; default: the working folder.
        without: files and folders below the paths to leave out.
    """
    left_out = frozenset(path.resolve() for path in without)
    contents: dict[str, bytes] = {}
    failed: list[Diagnostic] = []
    for path in paths:
        try:
            found = list(_below(path, left_out)) if path.is_dir() else [path]
        except OSError as error:
            failed.append(_unreadable(path, base, error.strerror or str(error)))
            continue
        if not found:
            failed.append(_unreadable(path, base, "a folder without YAML files"))
        for file in found:
            try:
                contents[shown_name(file, base)] = _read(file)
            except OSError as error:
                failed.append(_unreadable(file, base, error.strerror or str(error)))
            except ValueError as error:
                failed.append(_unreadable(file, base, str(error)))
    return YamlFiles(contents=contents, diagnostics=tuple(failed))


def _line(contents: Mapping[str, bytes], at: At) -> str:
    lines = contents.get(at.file, b"").decode("utf-8").splitlines()
    return lines[at.line - 1] if at.line <= len(lines) else ""


def _named_below(names: Iterable[str], folders: Iterable[Path], base: Path | None) -> frozenset[str]:
    """Return the names of files that are, or are below, some files and folders."""
    roots = [folder.resolve() for folder in folders]
    here = base or Path.cwd()
    places = {name: (here / name).resolve() for name in names} if roots else {}
    return frozenset(n for n, place in places.items() if any(place.is_relative_to(r) for r in roots))


def _below(folder: Path, left_out: frozenset[Path]) -> Iterator[Path]:
    """Yield the YAML files below a folder, sorted, and the links to folders elsewhere.

    A folder with two names (a link within the folder) is read once.
    """
    root = folder.resolve()
    seen: set[Path] = set()
    waiting = [folder]
    count = 0
    while waiting:
        here = waiting.pop()
        real = here.resolve()
        if real in seen:
            continue
        seen.add(real)
        for path in sorted(here.iterdir()):
            if path.name.startswith(".") or (left_out and path.resolve() in left_out):
                continue
            if path.is_dir():
                if path.is_symlink() and not path.resolve().is_relative_to(root):
                    # `_read` refuses it.
                    yield path
                else:
                    waiting.append(path)
            elif path.suffix.lower() in SUFFIXES:
                count += 1
                if count > MAX_FILES:
                    raise OSError(0, f"a folder with more than {MAX_FILES} YAML files")
                yield path


def _read(file: Path) -> bytes:
    """Return the file's bytes, at most one more than the compiler allows, so that it refuses the file."""
    if not file.exists():
        raise ValueError("no such file or folder")
    if file.is_symlink() and not file.resolve().is_relative_to(file.parent.resolve()):
        # A diagnostic shows lines of its file, and what lies elsewhere may be a secret.
        raise ValueError("a link that leads out of its folder")
    if not file.is_file():
        raise ValueError("not a regular file")
    with file.open("rb") as stream:
        return stream.read(MAX_FILE_BYTES + 1)


def _unreadable(path: Path, base: Path | None, why: str) -> Diagnostic:
    name = shown_name(path, base)
    findings = Findings(name)
    place = At(file=name, line=1, column=1)
    hint = "check the name and the permissions; folders are searched for *.yaml and *.yml"
    findings.add("R116", place, f"the file must be readable, got: {why[:1].lower()}{why[1:]}", hint)
    return findings.diagnostics()[0]

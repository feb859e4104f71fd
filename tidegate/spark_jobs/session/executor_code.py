"""The code of a project for executors: its packages as zip files, for `spark.submit.pyFiles`.

    programs.fares.run ─► the package `programs` ─► what its files import, below the project ─► one zip each

A function that rows go through travels with its task, but not the modules that it imports: on a machine
without the project it would fail with ModuleNotFoundError. So the packages below the project's folder that a
program imports, and those that they import, are zipped whole. A zip has the name of its content, so each
content is written once, by a rename, and two runs at once write the same. Nothing is imported here: imports
are read from the syntax tree, also those inside functions. Installed packages are not shipped.
"""

import ast
import os
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

from tidegate.domain.model import Dataset, Program
from tidegate.domain.spark_conf import MASTER, is_one_process
from tidegate.spark_jobs.errors import ProgramError
from tidegate.spark_jobs.session.session import PYTHON_FILES, SparkSettings

FOLDER = Path(".tidegate", "executor-code")

MAX_PACKAGE_BYTES = 64 * 1024 * 1024
"""Every executor fetches it; a larger package has data in it."""

MAX_ZIPS = 100
"""When the folder has more, those that no session has begun with for the longest time are deleted."""

DIGEST_BYTES = 10
INSTALLED = ("site-packages", "dist-packages")
OF_NO_PACKAGE = "__pycache__"
FIRST_DATE = (1980, 1, 1, 0, 0, 0)
"""The first date that a zip can have: the same content has the same bytes, whenever it was written."""


def program_properties(
    settings: SparkSettings, program: Program, datasets: Mapping[str, Dataset]
) -> dict[str, str]:
    """Return the Spark properties of a program: of its cluster, its own, and the code for its executors.

    Raises:
        ProgramError: see `zip_code`.
    """
    conf = settings.cluster(program.cluster).over(program.spark_conf)
    if settings.project is None or is_one_process(conf.get(MASTER, settings.master)):
        return conf
    checks = (check for name in program.writes for check in datasets[name].checks)
    paths = [program.run, *program.incremental.values(), *(getattr(check, "run", "") for check in checks)]
    zips = zip_code((path for path in paths if isinstance(path, str) and path), settings.project)
    given = conf.get(PYTHON_FILES, settings.conf.get(PYTHON_FILES, ""))
    if zips:
        conf[PYTHON_FILES] = ",".join((*filter(None, [given]), *map(str, zips)))
    return conf


def zip_code(paths: Iterable[str], project: Path) -> tuple[Path, ...]:
    """Zip the packages of a project that some dotted paths name, and those that these import.

    Args:
        paths: dotted paths of functions and modules.
        project: the folder below which packages are shipped.

    Returns:
        One zip file for each package, sorted by the name of the package.

    Raises:
        ProgramError: a package is too large, or the zip cannot be written.
    """
    found: dict[str, dict[str, bytes]] = {}
    waiting = [path.partition(".")[0] for path in paths]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _files(name, project)
            waiting += _imported(found[name])
    return tuple(_zip(name, found[name], project / FOLDER) for name in sorted(found) if found[name])


def _files(package: str, project: Path) -> dict[str, bytes]:
    """Return the files of a package by their names in its zip; none if it is not one of the project."""
    places = [place for place in _places(package) if _is_of(place, project)]
    found: dict[str, bytes] = {}
    size = 0
    for place in places:
        for file in sorted(_below(place, frozenset())) if place.is_dir() else (place,):
            # Before it is read: what is too large may not fit into the memory of the run.
            size += file.stat().st_size
            if size > MAX_PACKAGE_BYTES:
                raise ProgramError(
                    f"the package {package} in {place} has more than {MAX_PACKAGE_BYTES >> 20} MB, and every"
                    " executor would fetch it",
                    "move the data out of it, or install the package on the executors and outside of the"
                    " project's folder",
                )
            found.setdefault(file.relative_to(place.parent).as_posix(), file.read_bytes())
    return found


def _places(package: str) -> Iterator[Path]:
    """Yield the folders of a package, or the file of a module; nothing of one that is built in or missing."""
    if package in sys.builtin_module_names or package in sys.stdlib_module_names:
        return
    try:
        spec = find_spec(package)
    except ValueError:
        # A module that was made and not loaded, such as `__main__`.
        return
    if spec is None:
        return
    if spec.submodule_search_locations is not None:
        yield from (Path(place) for place in spec.submodule_search_locations)
    elif spec.origin is not None and spec.origin.endswith(".py"):
        yield Path(spec.origin)


def _is_of(place: Path, project: Path) -> bool:
    """Return whether a place is below the project's folder, as both are called or as links lead to them."""
    below = (project.absolute(), project.resolve())
    is_below = any(each.is_relative_to(top) for each in (place.absolute(), place.resolve()) for top in below)
    return is_below and not set(INSTALLED) & set(place.parts)


def _below(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    """Yield the files below a folder; one that a link leads back to is not entered again."""
    real = folder.resolve()
    if real in above:
        return
    for path in folder.iterdir():
        # A name that is not printable may be no text, as zips and Python need it.
        if path.name.startswith(".") or path.name == OF_NO_PACKAGE or not path.name.isprintable():
            continue
        if path.is_dir():
            yield from _below(path, above | {real})
        elif path.is_file():
            yield path


def _imported(files: dict[str, bytes]) -> set[str]:
    """Return the first names of what files import. A file that Python cannot read imports nothing."""
    names: set[str] = set()
    for name, content in files.items():
        if not name.endswith(".py"):
            continue
        try:
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(content)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                names |= {each.name.partition(".")[0] for each in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                names.add(node.module.partition(".")[0])
    return names


def _zip(package: str, files: dict[str, bytes], folder: Path) -> Path:
    digest = blake2b(digest_size=DIGEST_BYTES)
    for name, content in files.items():
        digest.update(f"{len(name)} {len(content)} {name}".encode() + content)
    path = folder / f"{package}-{digest.hexdigest()}.zip"
    try:
        # Not `touch`, which would make an empty one where another run has just deleted it.
        os.utime(path)
    except FileNotFoundError:
        _write(package, path, files)
    except PermissionError:
        # Another user has written it; it has the same content.
        pass
    return path


def _write(package: str, path: Path, files: dict[str, bytes]) -> None:
    folder = path.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor, made = tempfile.mkstemp(dir=folder, suffix=".part")
        with os.fdopen(descriptor, "wb") as stream, zipfile.ZipFile(stream, "w") as archive:
            # Python finds a folder without `__init__.py` in a zip only by an entry of its own.
            for parent in sorted({f"{parent}/" for name in files for parent in Path(name).parents} - {"./"}):
                archive.writestr(zipfile.ZipInfo(parent, FIRST_DATE), b"")
            for name, content in files.items():
                archive.writestr(zipfile.ZipInfo(name, FIRST_DATE), content, zipfile.ZIP_DEFLATED)
            archive.close()
            # A machine that loses power must not keep the name with another content.
            stream.flush()
            os.fsync(stream.fileno())
        Path(made).replace(path)
        _make_room(folder)
    except OSError as error:
        raise ProgramError(
            f"the package {package} cannot be zipped for the executors in {folder}: {error.strerror}",
            "let the user of the runs write there",
        ) from error


def _make_room(folder: Path) -> None:
    """Delete the oldest zips. Other runs rename and delete here at the same time."""
    found: list[tuple[int, Path]] = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):
            found.append((path.stat().st_mtime_ns, path))
    for _, old in sorted(found)[: max(0, len(found) - MAX_ZIPS)]:
        old.unlink(missing_ok=True)

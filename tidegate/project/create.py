"""A new project: the files of `tidegate/project/starter/`, copied into a folder.

`FILES` lists the files of a new project and their sources. Names that tools would interpret
inside this package (`.gitignore`, `.github/`) are stored without their dot. Nothing is
overwritten: a folder that contains one of the files is refused.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.domain.error import UserError
from tidegate.project.beside import PYPROJECT, location_beside, text_of
from tidegate.project.environment import STARTER

if TYPE_CHECKING:
    from importlib.metadata import Distribution

PACKAGE = "tidegate"
APP_FILE = "schedules/shop.yaml"
APP = "shop"
"""The app of the starter, and its name where that of the folder cannot be one."""

APP_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
SCHEMA_FILE = "schedules/app.schema.json"
REQUIREMENTS_FILE = "requirements.txt"

FILES: Mapping[str, str] = {
    "tidegate.toml": "tidegate.toml",
    "dagster.yaml": "dagster.yaml",
    "workspace.yaml": "workspace.yaml",
    APP_FILE: APP_FILE,
    "programs/__init__.py": "programs/__init__.py",
    "programs/daily_sales.py": "programs/daily_sales.py",
    "programs/daily_sales.sql": "programs/daily_sales.sql",
    "landing/orders/day=2025-06-01/region=north/orders.parquet": "landing/north.parquet",
    "landing/orders/day=2025-06-01/region=south/orders.parquet": "landing/south.parquet",
    ".gitignore": "gitignore",
    ".github/workflows/tidegate.yml": "github/tidegate.yml",
    ".pre-commit-config.yaml": "pre-commit-config.yaml",
}
"""Each copied file of a new project, and its name in `STARTER`."""

OF_PYTHON = ("programs/__init__.py", "programs/daily_sales.py")
OF_SQL = ("programs/daily_sales.sql",)
"""The program of the app, as a function or as a query."""

OF_THE_APP = (APP_FILE, *OF_PYTHON[1:], *(name for name in FILES if name.startswith("landing/")))
"""The files that a project without an app does not get."""

BESIDE = ("tidegate.toml", ".gitignore", SCHEMA_FILE)
"""What an existing project gets where it is missing; its dependencies, CI and instance stay its own."""

WORKFLOW = ".github/workflows/tidegate.yml"
OF_PRODUCTION = ("production.toml", "github/production.yml")
"""Files in `STARTER` that a project for production gets at the end of another one, or in its place."""

DEPLOY = "deploy"
NO_ENVIRONMENT, PROD_ENVIRONMENT = b'TIDEGATE_ENV: ""', b"TIDEGATE_ENV: prod"
NO_VARIABLE, PROD_VARIABLE = b"TIDEGATE_ENV=\n", b"TIDEGATE_ENV=prod\n"

OF_PARQUET = """\
# The extra iceberg brings Spark 3.5 and Iceberg's runtime. The tables of this project are Parquet, as
# default_format in tidegate.toml says: the extra spark in its place is enough, and takes Spark 4 too.
"""
"""What the requirements of a project say whose tables are Parquet."""

NAME_LINE = b'name = "NAME"'
RUN_LINE, SQL_LINE = b"run: programs.daily_sales\n", b"sql: programs/daily_sales.sql\n"
FORMAT_LINE = b'default_format = "FORMAT"'


def app_named(folder: str) -> str:
    """Return the name of the app of a project in a folder of this name."""
    name = re.sub(r"[^a-z0-9]+", "_", folder.lower()).strip("_")[:63]
    return name if APP_NAME.fullmatch(name) and name.isascii() else APP


def create_project(
    folder: Path,
    requirement: str,
    iceberg: bool,
    *,
    empty: bool = False,
    sql: bool = False,
    production: bool = False,
) -> tuple[str, ...]:
    """Write a new project into a folder, which is created; return the files, relative to the folder.

    Args:
        requirement: the project's requirement of Tidegate.
        iceberg: whether the Iceberg runtime is installed; if not, the project's tables are Parquet.
        empty: without the app, its program and its landed files.
        sql: with a query as the program, in place of a function.
        production: with an environment `prod`, images, services, and a CI that deploys.

    Raises:
        UserError: the folder has files that would be overwritten, or cannot be written to.
    """
    contents = _contents(requirement, iceberg, folder.resolve().name, empty, sql)
    if production:
        contents |= _production(contents)
    taken = [name for name in contents if (folder / name).exists() or (folder / name).is_symlink()]
    if taken:
        raise UserError(
            f"{folder.resolve()} already has {', '.join(taken)}; nothing was written",
            "give a new folder, or move these files away",
        )
    _write({folder / name: content for name, content in contents.items()}, "give another folder")
    return tuple(contents)


def create_beside(folder: Path, requirement: str, iceberg: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Make a project of an existing Dagster project: write what is missing, and add our code location.

    Returns:
        The files that were written or changed, relative to the folder; and what people do themselves.

    Raises:
        UserError: the folder does not exist, or a file cannot be read or written.
    """
    if not folder.is_dir():
        raise UserError(
            f"no folder {folder}", "give an existing one, or leave out --beside for a new project"
        )
    change = location_beside(folder)
    contents = _contents(requirement, iceberg, folder.resolve().name, empty=True)
    new = {name: contents[name] for name in BESIDE if not (folder / name).exists()}
    files = {**new, **change.files}
    _write({folder / name: content for name, content in files.items()}, "give another folder")
    return tuple(files), (*_left_to_people(folder, requirement), *change.to_do)


def _left_to_people(folder: Path, requirement: str) -> Iterator[str]:
    """Yield what their files lack, and people add."""
    if ".tidegate" not in text_of(folder / ".gitignore"):
        yield "add to .gitignore: /.tidegate/ and /warehouse/"
    declared = (text_of(folder / name) for name in (PYPROJECT, REQUIREMENTS_FILE, "setup.py", "setup.cfg"))
    if not any(re.search(r"\btidegate\b(?!\.)", text) for text in declared):
        yield f"add to the dependencies of the project: {requirement}"


def write_new(files: Mapping[Path, bytes]) -> tuple[Path, ...]:
    """Write files that do not exist; one that exists with the same content stays. Return those written.

    Raises:
        UserError: one exists with another content, or cannot be written to. Nothing is written then.
    """
    new = {path: content for path, content in files.items() if not _has(path, content)}
    taken = [str(path) for path in new if path.exists() or path.is_symlink()]
    if taken:
        raise UserError(
            f"{', '.join(taken)} already exists with another content; nothing was written",
            "move it away, or write to another place",
        )
    _write(new, "write to another place")
    return tuple(new)


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.is_file() and path.read_bytes() == content
    except OSError:
        return False


def _write(files: Mapping[Path, bytes], remedy: str) -> None:
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise UserError(
                f"{error.filename or path} cannot be written: {error.strerror}", remedy
            ) from error


def _production(contents: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return what a project for production has more than another one, and what is different in it."""
    from tidegate.project.shipped import deploy_folder

    folder = deploy_folder()
    files = {f"{DEPLOY}/{path.relative_to(folder).as_posix()}": path for path in sorted(folder.rglob("*"))}
    more = {name: path.read_bytes() for name, path in files.items() if path.is_file()}
    for name, text in more.items():
        more[name] = text.replace(NO_ENVIRONMENT, PROD_ENVIRONMENT).replace(NO_VARIABLE, PROD_VARIABLE)
    more[f"{DEPLOY}/{REQUIREMENTS_FILE}"] = f"-r ../{REQUIREMENTS_FILE}\n".encode()
    more["tidegate.toml"] = contents["tidegate.toml"] + (STARTER / "production.toml").read_bytes()
    more[WORKFLOW] = (STARTER / "github" / "production.yml").read_bytes()
    return more


def _contents(requirement: str, iceberg: bool, name: str, empty: bool, sql: bool = False) -> dict[str, bytes]:
    from tidegate.compiler.schema import schema_text

    left_out = {*(OF_THE_APP if empty else ()), *(OF_PYTHON if sql else OF_SQL)}
    contents = {each: (STARTER / FILES[each]).read_bytes() for each in FILES if each not in left_out}
    app = app_named(name)
    if sql and not empty:
        contents[APP_FILE] = contents[APP_FILE].replace(RUN_LINE, SQL_LINE)
    if not empty and app != APP:
        text = contents.pop(APP_FILE).replace(f"app: {APP}\n".encode(), f"app: {app}\n".encode())
        contents[f"schedules/{app}.yaml"] = text
    # A text in JSON is a text in TOML too, whatever is in it.
    shown = json.dumps(name, ensure_ascii=False)
    # Named, so that the same project has the same tables wherever it is deployed from.
    format = f'default_format = "{"iceberg" if iceberg else "parquet"}"'
    settings = contents["tidegate.toml"].replace(FORMAT_LINE, format.encode())
    contents["tidegate.toml"] = settings.replace(NAME_LINE, f"name = {shown}".encode())
    contents[SCHEMA_FILE] = schema_text().encode()
    comment = "" if iceberg else OF_PARQUET
    contents[REQUIREMENTS_FILE] = f"{comment}{requirement}\n".encode()
    return contents


def requirement(extras: Sequence[str] = (), installed: "Distribution | None" = None) -> str:
    """Return the line of a requirements file for Tidegate as it is installed, from where it was installed.

    Pip records where a package came from, if not from an index: `direct_url.json`, as PEP 610 says.

    Args:
        extras: the extras that the project needs.
        installed: the installed Tidegate; None to find it.
    """
    from importlib.metadata import distribution

    found = distribution(PACKAGE) if installed is None else installed
    name = f"{PACKAGE}[{','.join(extras)}]" if extras else PACKAGE
    direct = found.read_text("direct_url.json")
    return f"{name}=={found.version}" if direct is None else f"{name} @ {_reference(json.loads(direct))}"


def is_of_this_machine(requirement: str) -> bool:
    """Return whether a requirement names a folder, a file or a repository that only this machine has."""
    return re.search(r" @ (\w+\+)?file:", requirement) is not None


def _reference(direct: dict[str, Any]) -> str:
    """Return the reference of a direct URL to exactly what was installed."""
    url, parts = str(direct["url"]), list[str]()
    vcs, archive = direct.get("vcs_info"), direct.get("archive_info") or {}
    if vcs is not None:
        # The pip of Python 3.11 and 3.12 refuses a scheme that it does not know where no host follows.
        url = re.sub("^file:///", "file://localhost/", url)
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)] if archive.get("hash") else [])
    parts += [f"{algorithm}={value}" for algorithm, value in sorted(hashes.items())][:1]
    parts += [f"subdirectory={direct['subdirectory']}"] if direct.get("subdirectory") else []
    return f"{url}#{'&'.join(parts)}" if parts else url

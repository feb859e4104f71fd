"""The settings of a project: one file, `tidegate.toml`, in the folder that is the project.

The file is found upward from the working folder, or named by `--project` and its twin, the
environment variable TIDEGATE_PROJECT. Every setting has a default, so an empty file makes
a project. Secrets stay out of it: TIDEGATE_STORE_URL overrides the store's URL. Paths in
the file are relative to the file; paths in `Settings` are absolute.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings_file import SettingsError, StoreSection, decode

SETTINGS_FILE = "tidegate.toml"
MAY_LACK_HOST = ("file", "hdfs", "viewfs")
"""Their URLs may leave the host to Hadoop's own settings, as in hdfs:///lake."""
MAX_NAME_CHARACTERS = 255
MAX_SETTINGS_BYTES = 256 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What the settings file of a project says, completed with the defaults.

    Attributes:
        project: the project's folder, which all relative paths of apps start from.
        name: the project that owns, in the store, the apps that are deployed from here.
        update_schedules: whether a deployment lets schedules follow the YAML, unless an option says so.
        schedules: the folder with the YAML files.
        undeployed: files and folders of it that are checked and tested but not deployed: stories, drafts.
        store_url: SQLAlchemy URL of the schedule store, a path in it absolute. May hold a password.
        warehouse: the folder of the datasets that have no path of their own; a text for a URL.
        paths_from: what a dataset's own path is relative to; a text for a URL.
        spark_master: Spark's master URL.
        spark_conf: Spark's further settings, by their names.
        iceberg_packages: Maven coordinates of the Iceberg runtime; empty for the installed wheel.
        iceberg_catalog: Iceberg's options of the catalog; none of them: type hadoop on the warehouse.
        dagster_home: Dagster's instance folder (DAGSTER_HOME).
        tick_seconds: how often the engine looks for new work.
    """

    project: Path
    name: str
    update_schedules: bool
    schedules: Path
    undeployed: tuple[Path, ...] = ()
    store_url: str = field(repr=False)
    warehouse: Path | str
    paths_from: Path | str
    spark_master: str
    spark_conf: Mapping[str, str]
    iceberg_packages: str
    iceberg_catalog: Mapping[str, str] = field(repr=False)
    dagster_home: Path
    tick_seconds: int


def load_settings(start: Path | None = None) -> Settings:
    """The settings of the project around a folder.

    Args:
        start: a folder in the project, or its settings file; by default what TIDEGATE_PROJECT
            names, else the working folder.

    Raises:
        SettingsError: there is no settings file, or it is wrong; the message names file, key and remedy.
    """
    file = find_settings_file(start)
    return _settings(file, _read(file))


def find_settings_file(start: Path | None = None) -> Path:
    """The settings file that `load_settings` reads. Only a folder that nobody named is searched upward."""
    named = os.environ.get(PROJECT_VARIABLE) if start is None else None
    begin = (start or Path(named or ".")).expanduser().resolve()
    if begin.name == SETTINGS_FILE and begin.is_file():
        return begin
    if not begin.is_dir():
        source = f" (named by --project or {PROJECT_VARIABLE})" if named else ""
        raise SettingsError(f"no project folder at {begin}{source}", "name an existing folder")
    for folder in [begin] if named else [begin, *begin.parents]:
        if (folder / SETTINGS_FILE).is_file():
            return folder / SETTINGS_FILE
    raise SettingsError(
        f"no {SETTINGS_FILE} in {begin}" + ("" if named else " or any folder above it"),
        f"go to the project's folder, or name it by --project; an empty {SETTINGS_FILE} makes one",
    )


def _read(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_SETTINGS_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}", "check its permissions") from error
    if len(data) > MAX_SETTINGS_BYTES:
        raise SettingsError(f"{file}: more than {MAX_SETTINGS_BYTES:,} bytes", "keep only settings in it")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: not UTF-8 at byte {error.start}", "save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{file}: not TOML: {error}", 'write lines such as path = "warehouse"') from error


def _settings(file: Path, content: dict[str, Any]) -> Settings:
    # Not at the top: `--help` reads no settings, and must not wait for what checks them.
    from tidegate.spark_jobs.files.scheme import scheme_of
    from tidegate.spark_jobs.iceberg.catalog_options import catalog_fault

    found = decode(file, content)
    project = file.parent

    def path(section: str, key: str, text: str, example: str) -> Path:
        if not text or "\0" in text:
            raise SettingsError(
                f"{file}: {section}.{key} is no path, got {text!r:.100}",
                f"write for example {key} = {example}",
            )
        return (project / Path(text).expanduser()).resolve()

    def place(key: str, text: str, example: str) -> Path | str:
        return _url(file, key, text) if scheme_of(text) else path("warehouse", key, text, example)

    warehouse = place("path", found.warehouse.path, '"warehouse"')
    catalog = _flat(file, "iceberg.catalog", found.iceberg.catalog)
    fault = catalog_fault(catalog, str(warehouse))
    if fault is not None:
        raise SettingsError(f"{file}: {fault[0]}", fault[1])
    drafts = [
        path("project", "undeployed", text, '["schedules/drafts"]') for text in found.project.undeployed
    ]
    return Settings(
        project=project,
        name=_name(file, found.project.name or project.name),
        update_schedules=found.deploy.update_schedules,
        schedules=path("project", "schedules", found.project.schedules, '"schedules"'),
        undeployed=tuple(drafts),
        store_url=_store_url(file, found.store.url),
        warehouse=warehouse,
        paths_from=place("paths_from", found.warehouse.paths_from, '"."'),
        spark_master=_master(file, found.spark.master),
        spark_conf=_flat(file, "spark.conf", found.spark.conf),
        iceberg_packages=found.iceberg.packages,
        iceberg_catalog=catalog,
        dagster_home=path("dagster", "home", found.dagster.home, '".tidegate/dagster"'),
        tick_seconds=found.dagster.tick_seconds,
    )


def _name(file: Path, name: str) -> str:
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_CHARACTERS:
        raise SettingsError(
            f"{file}: the name of the project must be a printable text of 1 to {MAX_NAME_CHARACTERS}"
            f" characters, got {name!r:.100}",
            'write for example name = "flights" below [project]',
        )
    return name


def _master(file: Path, master: str) -> str:
    if not re.fullmatch(r"local|local\[[^\]]+\]|local-cluster\[\d+, *\d+, *\d+\]|yarn|\w+://.+", master):
        raise SettingsError(
            f"{file}: spark.master is no master that Spark knows, got {master!r:.100}",
            'write "local[*]", "spark://host:7077", "yarn", "k8s://https://host:port" or '
            '"local-cluster[workers,cores,megabytes]"',
        )
    return master


def _url(file: Path, key: str, url: str) -> str:
    """A URL of a file system, without the slash at its end."""
    from tidegate.spark_jobs.files.scheme import SCHEMES, scheme_of

    scheme, rest = scheme_of(url), url.partition(":")[2].rstrip("/")
    if scheme not in SCHEMES:
        raise SettingsError(
            f'{file}: warehouse.{key} is on the file system "{scheme}", which Tidegate does not know',
            f"known are {', '.join(f'{one}:' for one in SCHEMES)}, and folders without any",
        )
    host_is_known = scheme in MAY_LACK_HOST or re.match("//[^/]", rest)
    if not rest or not host_is_known or {".", "..", "\0"} & {*rest.split("/"), *rest}:
        raise SettingsError(
            f"{file}: warehouse.{key} is no URL of a folder, got {url!r:.100}",
            f'write for example {key} = "{scheme}://name/lake"',
        )
    return f"{scheme}:{rest}"


def _store_url(file: Path, in_file: str) -> str:
    """The store's URL with an absolute path; the environment goes before the file."""
    from_environment = os.environ.get(STORE_VARIABLE)
    url = from_environment or in_file
    place = STORE_VARIABLE if from_environment else f"{file}: store.url"
    scheme, colon, rest = url.partition("://")
    if not colon or scheme.split("+")[0] not in ("sqlite", "postgresql", "postgres"):
        raise SettingsError(
            f"{place} is no database URL that Tidegate knows",
            f'write "{StoreSection().url}" or "postgresql+psycopg2://user@host/database"',
        )
    if not scheme.startswith("sqlite"):
        return url
    path, question, options = rest.removeprefix("/").partition("?")
    if not path or path.startswith((":memory:", "file:")):
        raise SettingsError(
            f"{place} names no file, so that the store would not outlive the command",
            f'write "{StoreSection().url}"',
        )
    return f"{scheme}:///{(file.parent / path).resolve()}{question}{options}"


def _flat(file: Path, place: str, table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings of another program by their dotted names, whether the TOML quotes the names or not."""
    flat: dict[str, str] = {}
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            flat |= _flat(file, place, value, name + ".")
        elif isinstance(value, bool):
            flat[name] = str(value).lower()
        elif isinstance(value, str | int | float):
            flat[name] = str(value)
        else:
            raise SettingsError(f"{file}: {place} {name} is {value!r:.100}", f'write "{name}" = "..."')
    return flat

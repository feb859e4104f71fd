"""The settings of a project: one file, `tidegate.toml`, in the folder that is the project.

The file is in the working folder or the nearest folder above it, or in the folder given by
`--project` or the environment variable TIDEGATE_PROJECT. Every setting has a default, so an
empty file is a valid project. Secrets do not belong in it: TIDEGATE_STORE_URL overrides the
store's URL. Paths in the file are relative to the file; paths in `Settings` are absolute.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidegate.compiler.folder_index import plain_folder
from tidegate.domain.model import OnUpdate
from tidegate.domain.model.dataset import DatasetFormat
from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.language import SettingsError, SettingsFile, StoreSection, decode

if TYPE_CHECKING:
    from tidegate.scheduler.model.retention import Keep

SETTINGS_FILE = "tidegate.toml"
MAY_LACK_HOST = ("file", "hdfs", "viewfs")
"""Schemes whose URLs may omit the host, which Hadoop's settings then define: hdfs:///lake."""
MAX_NAME_CHARACTERS = 255
MAX_SETTINGS_BYTES = 256 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of a project, with defaults applied.

    Attributes:
        project: the project folder, to which relative paths of apps are relative.
        name: name of the project, which owns the apps that it deploys.
        namespace: of its apps, in the paths of the server.
        update_schedules: default of the option `--update-schedules`.
        check_imports: default of the option `--imports`.
        on_update: `on_update` of schedules that do not have it.
        schedules: the folder with the YAML files.
        undeployed: files and folders in it that are checked and tested but not deployed: stories, drafts.
        store_url: SQLAlchemy URL of the schedule store, with an absolute path. May contain a password.
        warehouse: the folder of datasets without their own path; a str for a URL.
        paths_from: the base of a dataset's own path; a str for a URL.
        default_format: the format of new datasets that a program writes and that name none.
        spark_master: Spark's master URL.
        spark_conf: further Spark properties by name.
        iceberg_packages: Maven coordinates of the Iceberg runtime; empty for the installed wheel.
        iceberg_catalog: options of Iceberg's catalog; empty: type hadoop on the warehouse.
        dagster_home: Dagster's instance folder (DAGSTER_HOME).
        tick_seconds: interval of the dispatcher's ticks.
        webserver_url: address of the Dagster UI, without a slash at its end; "" if it is not set.
        retention: how long the store keeps what nothing needs any more.
    """

    project: Path
    name: str
    namespace: str = "default"
    update_schedules: bool
    check_imports: bool = True
    on_update: OnUpdate = "reset"
    schedules: Path
    undeployed: tuple[Path, ...] = ()
    store_url: str = field(repr=False)
    warehouse: Path | str
    paths_from: Path | str
    default_format: DatasetFormat
    spark_master: str
    spark_conf: Mapping[str, str]
    iceberg_packages: str
    iceberg_catalog: Mapping[str, str] = field(repr=False)
    dagster_home: Path
    tick_seconds: int
    webserver_url: str = ""
    retention: "Keep"

    @property
    def warehouse_folder(self) -> str | None:
        """The warehouse as a path from `paths_from`; "" for that folder and those around it, else None."""
        base, warehouse = (f"{plain_folder(str(place))}/" for place in (self.paths_from, self.warehouse))
        if base.startswith(warehouse):
            return ""
        return warehouse.removeprefix(base).rstrip("/") if warehouse.startswith(base) else None


def load_settings(start: Path | None = None) -> Settings:
    """Load the settings of the project that contains a folder.

    Args:
        start: a folder in the project, or its settings file; default: TIDEGATE_PROJECT, else the
            working folder.

    Raises:
        SettingsError: the settings file is missing or invalid; the message has file, key and remedy.
    """
    file = find_settings_file(start)
    return _settings(file, _read(file))


def settings_with(start: Path | None, given: Mapping[str, Mapping[str, Any]]) -> Settings:
    """Load the settings of a project, with some of them given by the caller.

    Args:
        start: as for `load_settings`.
        given: values by section and key; they override the file, and the environment. With the store and the
            path of the warehouse among them, a project without a settings file is the working folder.

    Raises:
        SettingsError: see `load_settings`.
    """
    has_places = "url" in given.get("store", {}) and "path" in given.get("warehouse", {})
    try:
        file = find_settings_file(start)
        content = _read(file)
    except SettingsError:
        if start is not None or not has_places:
            raise
        file, content = Path.cwd() / SETTINGS_FILE, {}
    for section, values in given.items():
        content[section] = {**content.get(section, {}), **values}
    return _settings(file, content, store_is_given="url" in given.get("store", {}))


def find_settings_file(start: Path | None = None) -> Path:
    """Find the settings file. Parent folders are searched unless TIDEGATE_PROJECT gives the folder."""
    named = os.environ.get(PROJECT_VARIABLE) if start is None else None
    begin = (start or Path(named or ".")).expanduser().resolve()
    if begin.name == SETTINGS_FILE and begin.is_file():
        return begin
    if not begin.is_dir():
        source = f" (from --project or {PROJECT_VARIABLE})" if named else ""
        raise SettingsError(f"no project folder at {begin}{source}", "give an existing folder")
    for folder in [begin] if named else [begin, *begin.parents]:
        if (folder / SETTINGS_FILE).is_file():
            return folder / SETTINGS_FILE
    raise SettingsError(
        f"no {SETTINGS_FILE} in {begin}" + ("" if named else " or any folder above it"),
        "run `tidegate init FOLDER` to create a project, change to a project folder, or give one with"
        " --project FOLDER",
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


def _settings(file: Path, content: dict[str, Any], *, store_is_given: bool = False) -> Settings:
    # Not at the top: `--help` does not read settings and must not import their checks.
    from tidegate.project.settings.retention import kept
    from tidegate.spark_jobs.files.scheme import scheme_of
    from tidegate.spark_jobs.iceberg.catalog_options import catalog_fault

    found = decode(file, content)
    project = file.parent

    def path(section: str, key: str, text: str, example: str) -> Path:
        if not text or "\0" in text:
            raise SettingsError(
                f"{file}: {section}.{key} must be a path, got {text!r:.100}",
                f"write for example {key} = {example}",
            )
        return (project / Path(text).expanduser()).resolve()

    def path_or_url(key: str, text: str, example: str) -> Path | str:
        return _url(file, key, text) if scheme_of(text) else path("warehouse", key, text, example)

    warehouse = path_or_url("path", found.warehouse.path, '"warehouse"')
    catalog = _flat(file, "iceberg.catalog", found.iceberg.catalog)
    fault = catalog_fault(catalog, str(warehouse))
    if fault is not None:
        raise SettingsError(f"{file}: {fault[0]}", fault[1])
    conf = _flat(file, "spark.conf", found.spark.conf)
    drafts = [
        path("project", "undeployed", text, '["schedules/drafts"]') for text in found.project.undeployed
    ]
    return Settings(
        project=project,
        name=_name(file, found.project.name or project.name),
        namespace=_namespace(file, found.project.namespace),
        update_schedules=found.deploy.update_schedules,
        check_imports=found.deploy.check_imports,
        on_update=found.deploy.on_update,
        schedules=path("project", "schedules", found.project.schedules, '"schedules"'),
        undeployed=tuple(drafts),
        store_url=_store_url(file, found.store.url, is_given=store_is_given),
        warehouse=warehouse,
        paths_from=path_or_url("paths_from", found.warehouse.paths_from, '"."'),
        default_format=_default_format(found, conf),
        spark_master=_master(file, found.spark.master),
        spark_conf=conf,
        iceberg_packages=found.iceberg.packages,
        iceberg_catalog=catalog,
        dagster_home=path("dagster", "home", found.dagster.home, '".tidegate/dagster"'),
        tick_seconds=found.dagster.tick_seconds,
        webserver_url=_webserver(file, found.dagster.webserver_url),
        retention=kept(file, found.retention),
    )


def _webserver(file: Path, url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise SettingsError(
            f'{file}: dagster.webserver_url must be a URL, got "{url}"',
            'write for example webserver_url = "http://127.0.0.1:3000"',
        )
    return url.rstrip("/")


def _default_format(found: SettingsFile, conf: Mapping[str, str]) -> DatasetFormat:
    """Return the default format; `auto` depends on what Spark has on this machine."""
    from tidegate.spark_jobs.iceberg.runtime import is_present

    if found.warehouse.default_format != "auto":
        return found.warehouse.default_format
    return "iceberg" if is_present(found.iceberg.packages, conf) else "parquet"


def _name(file: Path, name: str) -> str:
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_CHARACTERS:
        raise SettingsError(
            f"{file}: the name of the project must be a printable text of 1 to {MAX_NAME_CHARACTERS}"
            f" characters, got {name!r:.100}",
            'write for example name = "flights" below [project]',
        )
    return name


def _namespace(file: Path, name: str) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name):
        raise SettingsError(
            f"{file}: project.namespace must be of lower-case letters, digits, `_` and `-`, beginning with a"
            f" letter, at most 63, got {name!r:.100}",
            'write for example namespace = "analytics" below [project]',
        )
    return name


def _master(file: Path, master: str) -> str:
    if not re.fullmatch(r"local|local\[[^\]]+\]|local-cluster\[\d+, *\d+, *\d+\]|yarn|\w+://.+", master):
        raise SettingsError(
            f"{file}: spark.master must be a Spark master URL, got {master!r:.100}",
            'write "local[*]", "spark://host:7077", "yarn", "k8s://https://host:port" or '
            '"local-cluster[workers,cores,megabytes]"',
        )
    return master


def _url(file: Path, key: str, url: str) -> str:
    """Check the URL of a folder and return it without a trailing slash."""
    from tidegate.spark_jobs.files.scheme import SCHEMES, scheme_of

    scheme, rest = scheme_of(url), url.partition(":")[2].rstrip("/")
    if scheme not in SCHEMES:
        raise SettingsError(
            f'{file}: warehouse.{key} is on the unsupported file system "{scheme}"',
            f"write a folder, or a URL with {', '.join(f'{one}:' for one in SCHEMES)}",
        )
    host_is_known = scheme in MAY_LACK_HOST or re.match("//[^/]", rest)
    if not rest or not host_is_known or {".", "..", "\0"} & {*rest.split("/"), *rest}:
        raise SettingsError(
            f"{file}: warehouse.{key} must be the URL of a folder, got {url!r:.100}",
            f'write for example {key} = "{scheme}://name/lake"',
        )
    return f"{scheme}:{rest}"


def _store_url(file: Path, in_file: str, *, is_given: bool) -> str:
    """Return the store's URL with an absolute path; the environment overrides the file."""
    from_environment = None if is_given else os.environ.get(STORE_VARIABLE)
    url = from_environment or in_file
    place = STORE_VARIABLE if from_environment else f"{file}: store.url"
    scheme, colon, rest = url.partition("://")
    if not colon or scheme.split("+")[0] not in ("sqlite", "postgresql", "postgres"):
        raise SettingsError(
            f"{place} must be a SQLite or PostgreSQL URL",
            f'write "{StoreSection().url}" or "postgresql+psycopg2://user@host/database"',
        )
    if not scheme.startswith("sqlite"):
        return url
    path, question, options = rest.removeprefix("/").partition("?")
    if not path or path.startswith((":memory:", "file:")):
        raise SettingsError(
            f"{place} must name a file: a store in memory would end with the command",
            f'write "{StoreSection().url}"',
        )
    return f"{scheme}:///{(file.parent / path).resolve()}{question}{options}"


def _flat(file: Path, place: str, table: dict[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings of another program by dotted names, quoted in the TOML or not."""
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

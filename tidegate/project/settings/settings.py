"""The settings of a project: one file, `tidegate.toml`, in the folder that is the project.

The file is in the working folder or the nearest folder above it, or in the folder given by
`--project` or the environment variable TIDEGATE_PROJECT. Every setting has a default, so an
empty file is a valid project. `[env.NAME]` has what differs in an environment, and secrets are
references to variables (`environments.py`); TIDEGATE_STORE_URL overrides the store's URL. Paths in
the file are relative to the file; paths in `Settings` are absolute.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tidegate.compiler.folder_index import plain_folder
from tidegate.domain.model import OnUpdate
from tidegate.domain.model.table_format import DatasetFormat
from tidegate.project.environment import PROJECT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.addresses import folder_url, is_in, store_url, webserver
from tidegate.project.settings.decode import check_sections, decode, flat
from tidegate.project.settings.environments import (
    Content,
    Resolved,
    chosen_environment,
    merged,
    names_of,
    read_content,
    resolve,
)
from tidegate.project.settings.language import SettingsError, SettingsFile, SparkSection

if TYPE_CHECKING:
    from tidegate.alerts.channel import Alerting
    from tidegate.compiler.rules.house import HouseRules
    from tidegate.domain.spark_conf import Cluster
    from tidegate.project.settings.sign_on import SignOn
    from tidegate.scheduler.model.keep import Keep

Anonymous = Literal["write", "read", "none"]

SETTINGS_FILE = "tidegate.toml"
MAX_NAME_CHARACTERS = 255


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of a project, with defaults applied. `language` says what the other ones are.

    Attributes:
        project: the project folder, to which relative paths of apps are relative.
        name: name of the project, which owns the apps that it deploys.
        namespace: of its apps, in the paths of the server.
        schedules: the folder with the YAML files.
        store_url: SQLAlchemy URL of the schedule store, with an absolute path. May contain a password.
        warehouse: the folder of datasets without their own path; a str for a URL.
        paths_from: the base of a dataset's own path; a str for a URL.
        default_format: the format of new datasets that a program writes and that name none.
        dagster_home: Dagster's instance folder (DAGSTER_HOME).
        webserver_url: address of the Dagster UI, without a slash at its end; "" if it is not set.
        rules: rules for schedules and tasks, beside those of the language.
        environment: the name of the profile that is merged in; "" for none.
        variables: the values of `${env.NAME}` in YAML files, by name.
        own_store: whether the store is a SQLite file in the project's folder that no environment names.
        unset: what is left out because a variable is not set; see `load_settings`.
        sign_on: how people sign in; None where they do not.
        channels: the names of the channels for alerts, of all environments: the YAML is the same for each.
        clusters: the same of Spark's clusters; `spark_clusters` are those of this environment.
    """

    project: Path
    name: str
    namespace: str = "default"
    timezone: str = ""
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
    spark_conf: Mapping[str, str] = field(repr=False)
    spark_history_url: str = ""
    spark_clusters: Mapping[str, "Cluster"] = field(default_factory=dict[str, "Cluster"])
    iceberg_packages: str
    iceberg_catalog: Mapping[str, str] = field(repr=False)
    dagster_home: Path
    tick_seconds: int
    webserver_url: str = ""
    retention: "Keep"
    rules: "HouseRules"
    watch_seconds: int = 10
    watch_options: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    requests_per_minute: int = 6000
    anonymous: Anonymous = "write"
    sign_on: "SignOn | None" = None
    environment: str = ""
    variables: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    own_store: bool = False
    unset: tuple[str, ...] = ()
    alerts: "Alerting"
    channels: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()

    @property
    def serve_url(self) -> str:
        """The address of the server as people reach it, without a slash at its end; "" if it is not set."""
        return self.alerts.rules.board

    @property
    def warehouse_folder(self) -> str | None:
        """The warehouse as a path from `paths_from`; "" for that folder and those around it, else None."""
        base, warehouse = (f"{plain_folder(str(place))}/" for place in (self.paths_from, self.warehouse))
        if base.startswith(warehouse):
            return ""
        return warehouse.removeprefix(base).rstrip("/") if warehouse.startswith(base) else None


def load_settings(start: Path | None = None, *, may_lack: bool = False) -> Settings:
    """Load the settings of the project that contains a folder.

    Args:
        start: a folder in the project, or its settings file; default: TIDEGATE_PROJECT, else the
            working folder.
        may_lack: leave out keys whose variables are not set, and name them in `unset`: for commands that only
            read the YAML. Otherwise such a key is an error.

    Raises:
        SettingsError: the settings file is missing or invalid; the message has file, key and remedy.
    """
    file = find_settings_file(start)
    return _of_content(file, read_content(file), {}, may_lack=may_lack)


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
        content = read_content(file)
    except SettingsError:
        if start is not None or not has_places:
            raise
        file, content = Path.cwd() / SETTINGS_FILE, {}
    return _of_content(file, content, given)


def _of_content(
    file: Path, content: Content, given: Mapping[str, Mapping[str, Any]], *, may_lack: bool = False
) -> Settings:
    """Return the settings of the chosen environment; no message has the value of a variable."""
    environment = chosen_environment()
    sections = merged(file, content, environment)
    check_sections(file, sections)
    for section, values in given.items():
        # Not expanded, and what they replace need not be.
        known = sections.get(section, {})
        sections[section] = {key: value for key, value in known.items() if key not in values}
    found = resolve(file, sections, environment, may_lack=may_lack)
    for section, values in given.items():
        found.content[section] = {**found.content.get(section, {}), **values}
    is_given = "url" in given.get("store", {})
    same = merged(file, content, "").get("store") == sections.get("store")
    try:
        settings = _settings(file, found, store_is_given=is_given, is_own=same and not is_given)
    except SettingsError as error:
        raise SettingsError(found.shown(error.message), found.shown(error.hint)) from None
    channels = names_of(file, content, "alerts", "channels") | settings.alerts.channels.keys()
    clusters = names_of(file, content, "spark", "clusters") | settings.spark_clusters.keys()
    return replace(settings, channels=channels, clusters=clusters)


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


def _settings(file: Path, resolved: Resolved, *, store_is_given: bool, is_own: bool) -> Settings:
    # Not at the top: `--help` does not read settings and must not import their checks.
    from tidegate.project.settings.alerts import alerts_of
    from tidegate.project.settings.engine_values import house_rules, kept
    from tidegate.spark_jobs.files.scheme import scheme_of

    found = decode(file, resolved.content)
    project = file.parent

    def path(section: str, key: str, text: str, example: str) -> Path:
        if not text or "\0" in text:
            raise SettingsError(
                f"{file}: {section}.{key} must be a path, got {text!r:.100}",
                f"write for example {key} = {example}",
            )
        return (project / Path(text).expanduser()).resolve()

    def path_or_url(key: str, text: str, example: str) -> Path | str:
        return folder_url(file, key, text) if scheme_of(text) else path("warehouse", key, text, example)

    warehouse = path_or_url("path", found.warehouse.path, '"warehouse"')
    spark = _spark(file, found.spark)
    drafts = (path("project", "undeployed", at, '["schedules/drafts"]') for at in found.project.undeployed)
    url = store_url(file, found.store.url, is_given=store_is_given)
    return Settings(
        project=project,
        name=_name(file, found.project.name or project.name),
        namespace=_namespace(file, found.project.namespace),
        timezone=_timezone(file, found.project.timezone),
        update_schedules=found.deploy.update_schedules,
        check_imports=found.deploy.check_imports,
        on_update=found.deploy.on_update,
        schedules=path("project", "schedules", found.project.schedules, '"schedules"'),
        undeployed=tuple(drafts),
        store_url=url,
        warehouse=warehouse,
        paths_from=path_or_url("paths_from", found.warehouse.paths_from, '"."'),
        default_format=_default_format(found, spark.conf),
        spark_master=spark.master,
        spark_conf=spark.conf,
        spark_history_url=spark.history_url,
        spark_clusters=spark.clusters,
        iceberg_packages=found.iceberg.packages,
        iceberg_catalog=_catalog(file, found, str(warehouse)),
        dagster_home=path("dagster", "home", found.dagster.home, '".tidegate/dagster"'),
        tick_seconds=found.dagster.tick_seconds,
        webserver_url=webserver(file, found.dagster.webserver_url),
        retention=kept(file, found.retention),
        rules=house_rules(file, found.lint),
        watch_seconds=found.watch.interval_seconds,
        watch_options=found.watch.options,
        requests_per_minute=found.serve.requests_per_minute,
        anonymous=found.serve.anonymous,
        sign_on=_sign_on(file, found.serve.oidc),
        environment=resolved.environment,
        variables=resolved.variables,
        own_store=is_own and is_in(project, url) and STORE_VARIABLE not in os.environ,
        unset=resolved.unset,
        alerts=alerts_of(
            file,
            found.alerts,
            environment=resolved.environment,
            board=webserver(file, found.serve.url, "serve.url"),
            ui=webserver(file, found.dagster.webserver_url),
        ),
    )


def _spark(file: Path, section: SparkSection) -> SparkSection:
    if section == SparkSection():
        return section
    from tidegate.project.settings.spark import check_spark

    return check_spark(file, section)


def _catalog(file: Path, found: SettingsFile, warehouse: str) -> dict[str, str]:
    from tidegate.spark_jobs.iceberg.catalog.options import catalog_fault

    catalog = flat(f"{file}: iceberg.catalog", found.iceberg.catalog)
    fault = catalog_fault(catalog, warehouse)
    if fault is not None:
        raise SettingsError(f"{file}: {fault[0]}", fault[1])
    return catalog


def _default_format(found: SettingsFile, conf: Mapping[str, str]) -> DatasetFormat:
    """Return the default format; `auto` depends on what Spark has on this machine."""
    from tidegate.spark_jobs.iceberg.catalog.runtime import is_present

    if found.warehouse.default_format != "auto":
        return found.warehouse.default_format
    return "iceberg" if is_present(found.iceberg.packages, conf) else "parquet"


def _sign_on(file: Path, given: dict[str, Any]) -> "SignOn | None":
    if not given:
        return None
    from tidegate.project.settings.sign_on import sign_on_of

    return sign_on_of(file, given)


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


def _timezone(file: Path, name: str) -> str:
    from zoneinfo import available_timezones

    if name and name not in available_timezones():
        raise SettingsError(
            f"{file}: project.timezone must be the name of a time zone, got {name!r:.100}",
            'write for example timezone = "America/New_York" below [project]',
        )
    return name

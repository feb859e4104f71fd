"""The language of `tidegate.toml`: every section and key with its type, default and description.

msgspec decodes the file into these classes, and `docs/settings.md` is rendered from them
(`tidegate.project.rendered_pages`); no other list of the keys exists. `services.py` has some of the
sections. Values (paths, URLs) are interpreted in `tidegate.project.settings.settings`.
"""

from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from tidegate.domain.error import UserError
from tidegate.domain.model.table_format import FORMATS
from tidegate.domain.wording import listed
from tidegate.project.settings.services import (
    AlertsSection,
    LintSection,
    Section,
    ServeSection,
    Table,
    WatchSection,
    key_of,
    text_of,
)

DEFAULT_FORMATS = ("auto", *sorted(FORMATS))
if TYPE_CHECKING:
    DefaultFormat = str
else:
    DefaultFormat = Literal[DEFAULT_FORMATS]

TICK_SECONDS_MAX = 600
"""A tick may come late; the scheduler counts as away after 15 minutes (`tidegate/scheduler/tick/tick.py`)."""


class ProjectSection(Section, frozen=True, kw_only=True):
    """What is deployed."""

    name: Annotated[
        str,
        text_of(
            "flights",
            "The project's name in the store. Several projects may share a store: a deployment touches "
            "the apps of its own project only. Empty: the name of the project's folder.",
        ),
    ] = ""
    namespace: Annotated[
        str,
        text_of(
            "analytics",
            "The namespace of the project's apps in the paths of `tidegate serve`.",
        ),
    ] = "default"
    timezone: Annotated[
        str,
        text_of(
            "America/New_York",
            "The zone of the local times that commands and pages show beside UTC, where what they show has "
            "no zone of its own or several. Empty: the zone of the machine.",
        ),
    ] = ""
    schedules: Annotated[str, text_of("schedules", "The folder with the YAML files.")] = "schedules"
    undeployed: Annotated[
        tuple[str, ...],
        key_of(
            "a list of texts in quotes",
            '["schedules/drafts"]',
            "Files and folders that `tidegate lint` and `tidegate test` check and that are not deployed: "
            "stories, drafts.",
        ),
    ] = ()
    variables: Annotated[
        Table,
        key_of(
            "a table",
            '{ LANDING = "s3a://bucket/landing" }',
            "Values of `${env.NAME}` in this file and in the YAML, in a section `[project.variables]`, where "
            "the process has no such variable.",
        ),
    ] = {}


class DeploySection(Section, frozen=True, kw_only=True):
    """How `tidegate deploy` and `tidegate plan` behave without options."""

    update_schedules: Annotated[
        bool,
        key_of(
            "true or false",
            "false",
            "Whether schedules follow the YAML; the default of `--update-schedules/--no-update-schedules`.",
        ),
    ] = True
    check_imports: Annotated[
        bool,
        key_of(
            "true or false",
            "false",
            "Whether `plan`, `deploy` and `dev` import the programs in a child process; the default of "
            "`--imports/--no-imports`. Switch it off where the programs are not installed.",
        ),
    ] = True
    on_update: Annotated[
        Literal["reset", "carry"],
        key_of(
            '"reset" or "carry"',
            '"carry"',
            "What a changed schedule without an `on_update` of its own does with its waiting jobs: `reset` "
            "discards them, `carry` keeps their events. A project made by `tidegate init` says `carry`.",
        ),
    ] = "reset"


class StoreSection(Section, frozen=True, kw_only=True):
    """Where the scheduler keeps its jobs, events and journal."""

    url: Annotated[
        str,
        text_of(
            "postgresql+psycopg2://user@host/database",
            "SQLAlchemy URL of the store, on SQLite or PostgreSQL. A file is relative to the project. "
            "`TIDEGATE_STORE_URL` overrides it. A password is a reference, `${env.STORE_PASSWORD}`.",
        ),
    ] = "sqlite:///.tidegate/store.db"


class WarehouseSection(Section, frozen=True, kw_only=True):
    """Where the tables are."""

    path: Annotated[
        str, text_of("s3a://bucket/lake", "Folder or URL of the datasets that have no `path` of their own.")
    ] = "warehouse"
    paths_from: Annotated[
        str, text_of("hdfs://name:8020/landed", "Folder or URL that the `path` of a dataset is relative to.")
    ] = "."
    default_format: Annotated[
        DefaultFormat,
        key_of(
            listed([f'"{name}"' for name in DEFAULT_FORMATS]),
            '"iceberg"',
            "The format of a dataset that a program writes and that has no `format`. `auto`: Iceberg where "
            "its runtime is present (`tidegate[iceberg]`, `packages`, or a jar in `[spark.conf]`), else "
            "Parquet. A deployed dataset keeps its format. A project made by `tidegate init` names one of "
            "the two.",
        ),
    ] = "auto"


class SparkSection(Section, frozen=True, kw_only=True):
    """How Spark is reached."""

    master: Annotated[str, text_of("spark://host:7077", "Spark's master URL.")] = "local[*]"
    conf: Annotated[
        Table,
        key_of(
            "a table",
            '{ "spark.sql.shuffle.partitions" = 4 }',
            "Further properties of Spark, in a section `[spark.conf]`.",
        ),
    ] = {}
    history_url: Annotated[
        str,
        text_of(
            "https://history.example.com",
            "Address of Spark's history server: a run links to its application there. Empty: to the interface"
            " of its driver, while it runs.",
        ),
    ] = ""
    clusters: Annotated[
        Table,
        key_of(
            "a table",
            '{ large = { master = "spark://host:7077" } }',
            "What programs name by `cluster`, each in a section `[spark.clusters.NAME]` with `master`, `conf`"
            " and `history_url`: what is missing there is that of `[spark]`, and properties come over"
            " `[spark.conf]`. A program whose cluster only another environment has runs on `[spark]`.",
        ),
    ] = {}


class IcebergSection(Section, frozen=True, kw_only=True):
    """How Iceberg tables are reached."""

    packages: Annotated[
        str,
        text_of(
            "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2",
            "Maven coordinates of the Iceberg runtime. Empty: the runtime of `tidegate[iceberg]`.",
        ),
    ] = ""
    catalog: Annotated[
        Table,
        key_of(
            "a table",
            '{ type = "rest", uri = "https://host/catalog" }',
            "Options of Iceberg's catalog, in a section `[iceberg.catalog]`. "
            "Empty: type `hadoop`, on the warehouse.",
        ),
    ] = {}


class DagsterSection(Section, frozen=True, kw_only=True):
    """How Dagster runs."""

    home: Annotated[str, text_of(".tidegate/dagster", "Folder of the Dagster instance (`DAGSTER_HOME`).")] = (
        ".tidegate/dagster"
    )
    # 5: the interval at which Dagster's daemon evaluates its sensors.
    tick_seconds: Annotated[
        int,
        key_of(
            f"a whole number from 1 to {TICK_SECONDS_MAX}",
            "5",
            "How often the scheduler looks for new work, in seconds. Below five: until there is a run to"
            " launch, since Dagster asks every five.",
            least=1,
            most=TICK_SECONDS_MAX,
        ),
    ] = 5
    webserver_url: Annotated[
        str,
        text_of(
            "https://dagster.example.com",
            "Address of the Dagster UI. `why` and `jobs show` print the address of a run below it; while"
            " `tidegate dev` runs on the project, below the address of that one.",
        ),
    ] = ""


def _days(description: str) -> msgspec.Meta:
    return key_of('a number of days such as "90d", or "forever"', '"30d"', description)


class RetentionSection(Section, frozen=True, kw_only=True):
    """How long the store keeps what nothing needs any more; see [retention.md](retention.md)."""

    journal: Annotated[
        str,
        _days(
            "Entries of the journal, and so how far back `tidegate why --at` looks. The entries of a job "
            "that may go on stay as long as it."
        ),
    ] = "14d"
    events: Annotated[
        str,
        _days(
            "Events with their deliveries, from their arrival. The ledger's totals stay, and so does the "
            "newest event of each partition."
        ),
    ] = "90d"
    finished_jobs: Annotated[
        str,
        _days("Finished jobs with their runs, from their end; dead letters stay."),
    ] = "90d"
    launches: Annotated[
        str, _days("Launches that `rate` counts; those within the longest `per` of any schedule stay.")
    ] = "90d"


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True):
    """The whole file. Every section and every key is optional."""

    project: ProjectSection = ProjectSection()
    deploy: DeploySection = DeploySection()
    store: StoreSection = StoreSection()
    warehouse: WarehouseSection = WarehouseSection()
    spark: SparkSection = SparkSection()
    iceberg: IcebergSection = IcebergSection()
    dagster: DagsterSection = DagsterSection()
    retention: RetentionSection = RetentionSection()
    watch: WatchSection = WatchSection()
    serve: ServeSection = ServeSection()
    alerts: AlertsSection = AlertsSection()
    lint: LintSection = LintSection()


SECTIONS: dict[str, type[Section]] = {
    field.name: field.type for field in msgspec.structs.fields(SettingsFile)
}


class SettingsError(UserError):
    """The settings file is missing or wrong."""


def keys_of(section: type[Section]) -> dict[str, msgspec.Meta]:
    """Return the keys of a section, each with its rule, example and description."""
    return {field.name: field.type.__metadata__[0] for field in msgspec.structs.fields(section)}

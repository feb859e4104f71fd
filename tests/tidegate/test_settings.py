"""Settings: what a project's file may say, its defaults, and the errors of a wrong one."""

from datetime import timedelta
from pathlib import Path

import pytest

from tidegate.project.rendered_pages import settings_markdown
from tidegate.project.settings.language import TICK_SECONDS_MAX
from tidegate.project.settings.settings import SettingsError, load_settings
from tidegate.project.spark import spark_settings, warehouse
from tidegate.scheduler.model.keep import Keep
from tidegate.scheduler.tick.clock import AWAY_AFTER
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings


def write(project_folder: Path, text: str) -> None:
    (project_folder / "tidegate.toml").write_text(text, "utf-8")


def test_an_empty_file_makes_a_project(project_folder: Path) -> None:
    settings = load_settings()
    assert settings.project == project_folder
    assert settings.schedules == project_folder / "schedules"
    assert settings.undeployed == ()
    assert settings.store_url == f"sqlite:///{project_folder}/.tidegate/store.db"
    assert settings.warehouse == project_folder / "warehouse"
    assert settings.paths_from == project_folder
    assert settings.spark_master == "local[*]"
    assert settings.spark_conf == {}
    assert settings.dagster_home == project_folder / ".tidegate/dagster"
    assert settings.tick_seconds == 5


def test_every_setting_is_taken_and_paths_are_relative_to_the_file(project_folder: Path) -> None:
    write(
        project_folder,
        """
        [project]
        schedules = "apps"
        undeployed = ["apps/drafts", "apps/stories.yaml"]
        [store]
        url = "sqlite:///data/store.db?timeout=5"
        [warehouse]
        path = "/srv/lake"
        paths_from = "hdfs://name:8020/landed/"
        [spark]
        master = "spark://host:7077"
        [spark.conf]
        "spark.sql.shuffle.partitions" = 4
        spark.ui.enabled = false
        [iceberg]
        packages = "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2"
        [iceberg.catalog]
        type = "rest"
        uri = "https://host/catalog"
        [dagster]
        home = "../dagster"
        tick_seconds = 30
        """,
    )
    (project_folder / "deep/down").mkdir(parents=True)
    settings = load_settings(project_folder / "deep/down")
    assert settings.project == project_folder
    assert settings.schedules == project_folder / "apps"
    assert settings.undeployed == (project_folder / "apps/drafts", project_folder / "apps/stories.yaml")
    assert settings.store_url == f"sqlite:///{project_folder}/data/store.db?timeout=5"
    assert settings.warehouse == Path("/srv/lake")
    assert settings.paths_from == "hdfs://name:8020/landed"
    assert settings.spark_master == "spark://host:7077"
    assert settings.spark_conf == {"spark.sql.shuffle.partitions": "4", "spark.ui.enabled": "false"}
    iceberg = spark_settings(settings).iceberg
    assert iceberg == IcebergSettings(
        warehouse="/srv/lake",
        catalog={"type": "rest", "uri": "https://host/catalog"},
        packages="org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.2",
    )
    assert settings.dagster_home == project_folder.parent / "dagster"
    assert settings.tick_seconds == 30


@pytest.mark.parametrize(
    "text",
    [
        '[warehouse]\npath = "hdfs:///lake"\n',
        '[warehouse]\npath = "abfss://container@account/lake"\n',
        '[warehouse]\npath = "s3a://b/lake"\n[iceberg.catalog]\ntype = "glue"\n',
        '[warehouse]\npath = "s3a://b/lake"\n[iceberg.catalog]\nlock-impl = "x.DynamoDbLockManager"\n',
        '[warehouse]\npath = "gs://b/lake"\n[iceberg.catalog]\ncatalog-impl = "x.Catalog"\n',
    ],
)
def test_a_warehouse_may_be_a_url(project_folder: Path, text: str) -> None:
    write(project_folder, text)
    settings = load_settings()
    assert warehouse(settings).path == settings.warehouse
    assert str(settings.warehouse) in text
    assert spark_settings(settings).iceberg is not None


@pytest.mark.parametrize(
    "master",
    ["local", "local[*]", "local[4, 2]", "local-cluster[2,1,1024]", "spark://a:7077,b:7077", "yarn",
     "k8s://https://host:6443"],
)  # fmt: skip
def test_masters_that_spark_knows(project_folder: Path, master: str) -> None:
    write(project_folder, f'[spark]\nmaster = "{master}"\n')
    assert spark_settings(load_settings()).master == master


def test_the_environment_names_the_project(project_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    monkeypatch.setenv("TIDEGATE_PROJECT", str(project_folder))
    assert load_settings().project == project_folder
    # A folder that a person named is meant itself: its parents are not searched.
    monkeypatch.setenv("TIDEGATE_PROJECT", str(project_folder / "schedules"))
    with pytest.raises(SettingsError, match=r"no tidegate.toml in .*/schedules; "):
        load_settings()
    monkeypatch.setenv("TIDEGATE_PROJECT", str(project_folder / "absent"))
    with pytest.raises(SettingsError, match="from --project or TIDEGATE_PROJECT"):
        load_settings()


def test_the_environment_overrides_the_store_and_its_password_is_never_shown(
    project_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(project_folder, '[store]\nurl = "sqlite:///a.db"\n')
    monkeypatch.setenv("TIDEGATE_STORE_URL", "postgresql://tide:secret@host/tide")
    settings = load_settings()
    assert settings.store_url == "postgresql://tide:secret@host/tide"
    assert "secret" not in repr(settings)


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("[stor]\n", 'unknown section "stor"', 'did you mean "store"?'),
        ('[store]\nulr = "x"\n', 'unknown key "ulr" in [store]', 'did you mean "url"?'),
        ("[zzz]\n", 'unknown section "zzz"', "sections here: alerts"),
        ('store = "x"\n', "store must be a section", "[store]"),
        ("[store]\nurl = 5\n", "store.url must be a text in quotes, got 5", "url ="),
        (
            '[dagster]\ntick_seconds = "5"\n',
            "dagster.tick_seconds must be a whole number",
            "tick_seconds = 5",
        ),
        (
            "[dagster]\ntick_seconds = true\n",
            "dagster.tick_seconds must be a whole number",
            "tick_seconds = 5",
        ),
        (
            '[dagster]\nwebserver_url = "localhost:3000"\n',
            'dagster.webserver_url must be a URL, got "localhost:3000"',
            "http://127.0.0.1:3000",
        ),
        ("[dagster]\ntick_seconds = 0\n", "must be a whole number from 1 to 600, got 0", "tick_seconds = 5"),
        (
            "[dagster]\ntick_seconds = 601\n",
            "must be a whole number from 1 to 600, got 601",
            "tick_seconds = 5",
        ),
        ('[warehouse]\npath = ""\n', "warehouse.path must be a path", 'path = "warehouse"'),
        ('[warehouse]\npath = "hdsf://n/lake"\n', 'the unsupported file system "hdsf"', "hdfs:, viewfs:"),
        (
            '[warehouse]\npath = "s3a:///lake"\n',
            "warehouse.path must be the URL of a folder",
            "s3a://name/lake",
        ),
        (
            '[warehouse]\npath = "hdfs://n/a/../b"\n',
            "warehouse.path must be the URL of a folder",
            "hdfs://name",
        ),
        ('[warehouse]\npaths_from = "file://"\n', "warehouse.paths_from must be the URL", "paths_from = "),
        ('[iceberg.catalog]\ntype = "reste"\n', 'iceberg.catalog.type is "reste"', 'did you mean "rest"?'),
        ('[iceberg.catalog]\ntype = "zzz"\n', 'iceberg.catalog.type is "zzz"', "write one of hadoop, hive"),
        ('[iceberg.catalog]\ntype = "rest"\n', "of type rest has no uri", 'uri = "https://host/catalog"'),
        ('[iceberg.catalog]\ntype = "jdbc"\nuri = "http://x"\n', 'uri is "http://x"', "jdbc:"),
        ('[iceberg.catalog]\ntype = "hive"\ncatalog-impl = "x.Y"\n', "both type and", "delete one"),
        ('[warehouse]\npath = "s3a://b/lake"\n', "type hadoop loses commits on s3a:", 'type = "rest"'),
        (
            '[project]\nundeployed = "drafts"\n',
            "project.undeployed must be a list of texts in quotes",
            'undeployed = ["schedules/drafts"]',
        ),
        ("[project]\nundeployed = [5]\n", "must be a list of texts in quotes, got [5]", "schedules/drafts"),
        ('[project]\nundeployed = [""]\n', "project.undeployed must be a path", "schedules/drafts"),
        ('[store]\nurl = 5\nulr = "x"\n', 'unknown key "ulr" in [store]', 'did you mean "url"?'),
        (
            '[spark]\nmaster = "lokal"\n',
            "spark.master must be a Spark master URL",
            '"local[*]", "spark://host:7077"',
        ),
        (
            '[spark]\nmaster = "local-cluster[2]"\n',
            "spark.master must be a Spark master URL",
            "local-cluster[workers",
        ),
        ('[spark]\nconf = "x"\n', "spark.conf must be a table", "[spark.conf]"),
        ("[spark.conf]\nspark.x = [1]\n", "spark.conf spark.x is [1]", '"spark.x" = '),
        ("[iceberg.catalog]\nuri = []\n", "iceberg.catalog uri is []", '"uri" = '),
        (
            '[store]\nurl = "mysql://h/db"\n',
            "store.url must be a SQLite or PostgreSQL URL",
            "sqlite:///.tidegate/store.db",
        ),
        (
            '[store]\nurl = "store.db"\n',
            "store.url must be a SQLite or PostgreSQL URL",
            "sqlite:///.tidegate/store.db",
        ),
        ('[store]\nurl = "sqlite://"\n', "store.url must name a file", "sqlite:///.tidegate/store.db"),
        (
            '[store]\nurl = "sqlite:///:memory:"\n',
            "store.url must name a file",
            "sqlite:///.tidegate/store.db",
        ),
        ("[store\n", "not TOML", "path ="),
        ("a = " + "[" * 5000, "not TOML", "path ="),
        ("#" * 300_000, "more than", "only settings"),
    ],
)
def test_a_wrong_file_is_told_what_and_where(project_folder: Path, text: str, says: str, hint: str) -> None:
    write(project_folder, text)
    with pytest.raises(SettingsError) as refused:
        load_settings()
    assert refused.value.message.startswith(f"{project_folder}/tidegate.toml: ")
    assert says in refused.value.message
    assert hint in refused.value.hint


def test_a_file_that_is_no_text_is_refused(project_folder: Path) -> None:
    (project_folder / "tidegate.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match="not UTF-8"):
        load_settings()


def test_no_project_at_all_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"no tidegate\.toml in") as refused:
        load_settings(tmp_path)
    assert "run `tidegate init FOLDER`" in refused.value.hint


def test_the_projects_own_settings_load() -> None:
    assert load_settings(Path(__file__).parent).spark_conf["spark.sql.shuffle.partitions"] == "4"


def test_the_page_of_the_settings_is_what_the_program_knows() -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    assert page == settings_markdown(), "`make pages` writes docs/settings.md again"


def test_ticks_that_come_late_still_come_before_the_scheduler_counts_as_away() -> None:
    assert timedelta(seconds=TICK_SECONDS_MAX) <= AWAY_AFTER * 0.8


def test_retention_is_a_number_of_days_or_forever(project_folder: Path) -> None:
    assert load_settings().retention == Keep()
    write(project_folder, '[retention]\njournal = "30d"\nevents = "forever"\n')
    kept = load_settings().retention
    assert (kept.journal, kept.events, kept.finished_jobs) == (timedelta(days=30), None, timedelta(days=90))


@pytest.mark.parametrize("wrong", ["90", "0d", "12h", "99999d", "never"])
def test_any_other_retention_is_refused(project_folder: Path, wrong: str) -> None:
    write(project_folder, f'[retention]\nlaunches = "{wrong}"\n')
    with pytest.raises(SettingsError, match=r"retention\.launches must be a number of days") as error:
        load_settings()
    assert error.value.hint == 'write for example launches = "90d"'

"""Environments as a user has them: profiles, variables and secrets; a deployment is a process."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple
from unittest import mock
from urllib.parse import quote, urlsplit

import pytest
import sqlalchemy

from tests.tidegate.project import Project
from tidegate.cli.main import main
from tidegate.processes.home import prepare_home, site_of
from tidegate.project.settings.settings import Settings, SettingsError, load_settings

pytestmark = pytest.mark.slow  # whole commands

PASSWORD = "p@ss/wörd:1"
FOLDERS = """\
[warehouse]
default_format = "parquet"
[project]
name = "shop"
[project.variables]
LANDING = "landing"
[env.prod.project.variables]
LANDING = "landing/prod"
"""
PROD = """\
[env.prod.store]
url = "postgresql+psycopg2://of_{database}:${{env.STORE_PASSWORD}}@/{database}?{options}"
"""


@pytest.fixture
def shop(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose data lands in another folder in production."""
    monkeypatch.setenv("TIDEGATE_ENV", "")
    (project.folder / "tidegate.toml").write_text(FOLDERS)
    project.edit("path: landing/orders", "path: '${env.LANDING}/orders'")
    return project


@pytest.fixture
def database(postgres_url: str) -> Iterator[str]:
    """The lines of an environment whose store is in PostgreSQL, behind a password of awkward characters."""
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    parts = urlsplit(postgres_url)
    name = parts.path.lstrip("/")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE ROLE of_{name} SUPERUSER LOGIN PASSWORD '{PASSWORD}'")
    yield PROD.format(database=name, options=parts.query)
    engine.dispose()


class Said(NamedTuple):
    """How a command has ended, and what it has printed."""

    returncode: int
    stdout: str
    stderr: str


def tidegate(*arguments: str, **variables: str) -> Said:
    """Call `tidegate` in the working folder as its process would begin: with its variables and its frame."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")}
    out, err = StringIO(), StringIO()
    with (
        mock.patch.dict(os.environ, {**known, **variables}, clear=True),
        mock.patch.object(sys, "argv", ["tidegate", *arguments]),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        main()
        sys.exit(0)
    return Said(int(ended.value.code or 0), out.getvalue(), err.getvalue())


def process(folder: Path, *arguments: str, **variables: str) -> Said:
    """Call `tidegate` as a user does."""
    known = {name: value for name, value in os.environ.items() if not name.startswith("TIDEGATE_")}
    done = subprocess.run(
        [sys.executable, "-m", "tidegate.cli.main", *arguments],
        cwd=folder,
        env={**known, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.mark.store
def test_an_environment_has_a_store_and_variables_of_its_own(shop: Project, database: str) -> None:
    with (shop.folder / "tidegate.toml").open("a") as file:
        file.write(database)

    here = tidegate("deploy", "--no-imports")
    assert here.returncode == 0, here.stderr
    there = tidegate("plan", "--no-imports", "--env", "prod", STORE_PASSWORD=PASSWORD)
    assert there.returncode == 2, there.stderr
    done = process(shop.folder, "--env=prod", "deploy", "--no-imports", STORE_PASSWORD=PASSWORD)
    assert done.returncode == 0, done.stderr
    again = tidegate("plan", "--no-imports", TIDEGATE_ENV="prod", STORE_PASSWORD=PASSWORD)
    assert again.returncode == 0, again.stderr

    url = load_settings_of(shop, "prod", STORE_PASSWORD=PASSWORD).store_url
    with sqlalchemy.create_engine(url).connect() as connection:
        (text,) = connection.execute(sqlalchemy.text("SELECT CAST(spec AS TEXT) FROM apps")).one()
        journal = (
            connection.execute(sqlalchemy.text("SELECT CAST(data AS TEXT) FROM journal")).scalars().all()
        )
    assert "landing/prod/orders" in text
    assert not any(PASSWORD in each or quote(PASSWORD, safe="") in each for each in (text, *journal))


def load_settings_of(shop: Project, environment: str, **variables: str) -> Settings:
    """Return the settings as another process has them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEGATE_ENV", environment)
        for name, value in variables.items():
            patch.setenv(name, value)
        return load_settings(shop.folder)


@pytest.mark.store
def test_no_message_has_a_password(shop: Project, database: str) -> None:
    lines = database + '[env.prod.spark]\nmaster = "nonsense ${env.STORE_PASSWORD}"\n'
    (shop.folder / "tidegate.toml").write_text(FOLDERS + lines)
    wrong = tidegate("plan", "--env", "prod", STORE_PASSWORD=PASSWORD)
    assert wrong.returncode == 1
    assert "spark.master" in wrong.stderr and "${env.STORE_PASSWORD}" in wrong.stderr

    away = database.replace("@/", "@127.0.0.1:1/").partition("?")[0] + '"\n'
    (shop.folder / "tidegate.toml").write_text(FOLDERS + away)
    unreachable = tidegate("plan", "--env", "prod", STORE_PASSWORD=PASSWORD)
    assert unreachable.returncode == 1
    assert "cannot be used" in unreachable.stderr

    for each in (wrong, unreachable):
        said = each.stdout + each.stderr
        assert PASSWORD not in said
        assert quote(PASSWORD, safe="") not in said
        assert "Traceback" not in said


def test_an_unknown_environment_lists_the_known_ones(shop: Project) -> None:
    for arguments in (["--env", "test", "plan"], ["plan", "--env", "test"], ["lint", "--env=test"]):
        error = shop.refused(*arguments)
        assert 'there is no environment "test"' in error.message
        assert "prod" in error.hint
    assert tidegate("plan", "--env").returncode == 64


def test_a_variable_that_is_not_set_has_a_place_and_a_remedy(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (shop.folder / "tidegate.toml").open("a") as file:
        file.write('[spark.conf]\n"spark.hadoop.fs.s3a.endpoint" = "${env.S3_ENDPOINT}"\n')
    error = shop.refused("plan")
    assert "tidegate.toml: spark.conf.spark.hadoop.fs.s3a.endpoint: the variable S3_ENDPOINT" in error.message
    assert "[project.variables]" in error.hint

    # What only reads the YAML needs neither a store nor Spark.
    shop.run("lint")
    shop.edit("${env.LANDING}", "${env.ELSEWHERE}")
    said = shop.run("lint", exit_code=1)
    assert "schedules/sales.yaml:5:" in said and "error[R120]" in said
    monkeypatch.setenv("ELSEWHERE", "landing")
    shop.run("lint")


def test_a_plain_reference_is_what_the_variable_would_be_there(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.edit("      - concurrency: {max: 1}", "      - concurrency:\n          max: ${env.SLOTS}")
    monkeypatch.setenv("SLOTS", "3")
    shop.run("lint")
    monkeypatch.setenv("SLOTS", "many")
    assert "must be an integer" in shop.run("lint", exit_code=1)


def test_lint_warns_of_a_literal_password_and_shows_none(shop: Project) -> None:
    with (shop.folder / "tidegate.toml").open("a") as file:
        file.write('[env.prod.store]\nurl = "postgresql+psycopg2://tidegate:hunter2@db/tidegate"\n')
    for format in ("text", "json", "sarif", "github"):
        said = shop.run("lint", "--format", format)
        assert "T501" in said and "hunter2" not in said
    shop.run("lint", "--strict", exit_code=1)


def test_dev_refuses_a_store_that_is_not_the_projects_own(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shop.folder / "tidegate.toml").write_text(
        f'{FOLDERS}[env.prod.store]\nurl = "sqlite:///.tidegate/prod.db"\n'
    )
    shop.write("sales", "app: [")
    assert "the YAML has errors" in shop.refused("dev").message
    for name, value in (("TIDEGATE_ENV", "prod"), ("TIDEGATE_STORE_URL", "sqlite:///other.db")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            error = shop.refused("dev")
            assert "is not this project's own" in error.message and "--yes" in error.hint
            # With --yes it goes on, to the mistake in the YAML.
            assert "the YAML has errors" in shop.refused("dev", "--yes").message


def test_processes_of_dagster_have_the_environment_and_a_home_of_their_own(
    shop: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare_home(load_settings())
    monkeypatch.setenv("TIDEGATE_ENV", "prod")
    for command in ("host", "serve"):
        error = shop.refused(command)
        assert "is that of the environment (none), not of prod" in error.message
        assert "[env.prod.dagster]" in error.hint
    with (shop.folder / "tidegate.toml").open("a") as file:
        file.write('[env.prod.dagster]\nhome = ".tidegate/prod/dagster"\n')
    site = site_of(load_settings())
    assert site.process_environment()["TIDEGATE_ENV"] == "prod"
    assert site.home == shop.folder / ".tidegate/prod/dagster"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("env = 1", "env must be a section"),
        ("[env]\nprod = 1", "env.prod must be a section"),
        ("[env.Prod.store]", "the name of an environment"),
        ("[env.prod.stroe]\nurl = 1", 'env.prod: unknown section "stroe"'),
        ("[env.prod.store]\nuri = 1", 'env.prod: unknown key "uri" in \\[store\\]'),
        ('[project.variables]\nA-B = "x"', "project.variables.A-B must be a text"),
        ("[project.variables]\nA = 1", "project.variables.A must be a text"),
        ('[spark]\nmaster = "${env.}"', "a reference is"),
        ('[warehouse]\npath = "s3a://key:secret@bucket/lake"', "has a password"),
    ],
)
def test_what_is_wrong_with_environments_is_said(shop: Project, lines: str, said: str) -> None:
    (shop.folder / "tidegate.toml").write_text(f"{lines}\n")
    with pytest.raises(SettingsError, match=said) as error:
        load_settings()
    assert error.value.hint


def test_tables_are_merged_key_by_key(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (shop.folder / "tidegate.toml").write_text(
        '[spark.conf]\na = "1"\nb = "2"\n[env.prod.spark.conf]\nb = "$${env.B}"\n'
        '[env.prod]\nproject.undeployed = ["x"]\n'
    )
    assert load_settings().spark_conf == {"a": "1", "b": "2"}
    monkeypatch.setenv("TIDEGATE_ENV", "prod")
    assert load_settings().spark_conf == {"a": "1", "b": "${env.B}"}
    assert load_settings().undeployed == (shop.folder / "x",)

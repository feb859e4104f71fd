"""Commands show the local time beside UTC: of the app, else of the project, else of the machine."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import msgspec
import pytest

from tests.tidegate.project import Project, sales_as
from tidegate.cli.printing import instant
from tidegate.project import local_time
from tidegate.project.settings.settings import SettingsError, load_settings
from tidegate.scheduler.model.job import JobState
from tidegate.server.board.rendering import ENVIRONMENT, relative, seen_from

pytestmark = pytest.mark.slow  # whole commands

AT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ"
"""An instant in UTC."""

LISTS = (
    ("schedules", "list"),
    ("schedules", "show", "report_daily"),
    ("why", "report_at_six"),
    ("events", "list"),
)


@pytest.fixture(autouse=True)
def _in_utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")


@pytest.mark.parametrize("command", LISTS, ids=" ".join)
def test_what_is_of_one_app_has_the_zone_of_the_app(deployed: Project, command: tuple[str, ...]) -> None:
    deployed.arrive("2026-03-09")
    printed = " ".join(deployed.run(*command).split())
    assert re.search(rf"{AT} \((\d\d-\d\d )?\d\d:\d\d Berlin\)", printed), printed


def test_a_job_has_the_zone_of_its_app(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    (job,) = deployed.json("jobs", "list")
    assert re.search(rf"opened +{AT} \([-\d: ]+ Berlin\)", deployed.run("jobs", "show", job["id"]))


def test_failed_jobs_of_one_app_have_its_zone(deployed: Project) -> None:
    deployed.arrive("2026-03-09")
    store = deployed.store()
    with store.transaction() as transaction:
        (job,) = transaction.jobs()
        ended = datetime.now(UTC)
        transaction.put_jobs([msgspec.structs.replace(job, state=JobState.FAILED, ended_at=ended)])
    store.close()
    local = ended.astimezone(ZoneInfo("Europe/Berlin"))
    assert f"{local:%H:%M} Berlin)" in deployed.run("jobs", "list", "--wide")


def test_what_has_no_app_has_the_zone_of_the_project_or_the_machine(
    deployed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert re.search(rf"{AT} +\S", deployed.run("deployments", "log"))
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert "Tokyo)" in deployed.run("deployments", "log")
    settings = deployed.folder / "tidegate.toml"
    named = 'name = "shop"\n'
    settings.write_text(settings.read_text().replace(named, f'{named}timezone = "America/New_York"\n'))
    assert "New York)" in deployed.run("deployments", "log")


def test_apps_of_several_zones_have_the_zone_of_the_project(deployed: Project) -> None:
    deployed.write("late", sales_as("late").replace("Europe/Berlin", "America/New_York"))
    deployed.run("deploy")
    printed = deployed.run("schedules", "list")
    assert "Berlin)" in printed and "New York)" in printed


@pytest.mark.parametrize("command", [("doctor",), ("status",), ("why", "report_at_six")], ids=" ".join)
def test_json_has_utc_only_in_its_texts_too(
    deployed: Project, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    deployed.arrive("2026-03-09")
    printed = deployed.run(*command, "--format", "json", exit_code=0 if command[0] == "why" else 1)
    assert json.loads(printed)
    assert re.search(AT, printed) and "Z (" not in printed


def test_a_zone_of_the_project_must_exist(tmp_path: Path) -> None:
    (tmp_path / "tidegate.toml").write_text('[project]\ntimezone = "Mars"\n')
    with pytest.raises(SettingsError, match=r"project\.timezone must be the name of a time zone, got 'Mars'"):
        load_settings(tmp_path)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("America/New_York", "America/New_York"),
        (":Europe/Berlin", "Europe/Berlin"),
        ("EST+5x", None),
        ("", None),
    ],
)
def test_the_zone_of_the_machine_is_that_of_tz(
    monkeypatch: pytest.MonkeyPatch, named: str, expected: str | None
) -> None:
    monkeypatch.setenv("TZ", named)
    zone = local_time.machine_zone()
    assert (None if zone is None else zone.key) == expected


def test_without_tz_it_is_the_zone_of_its_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TZ")
    file = tmp_path / "zoneinfo/Europe/Paris"
    file.parent.mkdir(parents=True)
    file.write_text("")
    link = tmp_path / "localtime"
    link.symlink_to(file)
    monkeypatch.setattr(local_time, "LOCAL_TIME_FILE", link)
    zone = local_time.machine_zone()
    assert zone is not None and zone.key == "Europe/Paris"
    monkeypatch.setattr(local_time, "LOCAL_TIME_FILE", tmp_path / "missing")
    assert local_time.machine_zone() is None


LEAP_DAY = datetime(2028, 2, 29, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "shown"),
    [
        (datetime(2026, 11, 29, tzinfo=UTC), "never within 400 days"),
        (datetime(2027, 1, 25, 5, 59, tzinfo=UTC), "never within 400 days"),
        (datetime(2027, 1, 25, 6, tzinfo=UTC), "2028-02-29 06:00:00Z (07:00 Berlin)"),
    ],
)
def test_people_are_shown_that_what_is_further_than_400_days_never_comes(now: datetime, shown: str) -> None:
    local_time.show_local(True)  # whatever the command of another test has chosen for its process
    assert instant(LEAP_DAY, "Europe/Berlin", now) == shown
    with seen_from(now):
        shown_page = ENVIRONMENT.from_string("{{ at | instant('Europe/Berlin') }}").render(at=LEAP_DAY)
        assert shown_page == shown
        assert relative(LEAP_DAY) == (shown if "never" in shown else "in 400 d")

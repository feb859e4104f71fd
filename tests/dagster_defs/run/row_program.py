"""Functions that rows go through, as a user's program has them; they run in workers of Spark."""

import json
from collections.abc import Iterator
from typing import Any


def fare_of(day: int) -> int:
    raise ValueError(f"no fares of day {day}\nand a second line")


def parsed(day: int) -> Any:
    try:
        return json.loads("{" * (day + 1))
    except ValueError as error:
        raise RuntimeError("bad row") from error


def in_a_library(day: int) -> Any:
    return json.loads("{" * (day + 1))


def batches(frames: Iterator[Any]) -> Iterator[Any]:
    for frame in frames:
        fare_of(0)
        yield frame

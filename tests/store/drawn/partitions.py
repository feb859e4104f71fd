"""The questions that are asked about the partitions of datasets; see `drawn`."""

from typing import Any

from tidegate.scheduler.store.engine_reader import EngineReader

KEYS = ["", "k", "K", "ä", "none"]


def answers(reader: EngineReader) -> list[Any]:
    """What a reader says to every question about partitions."""
    return [
        reader.partition_states("a/d", KEYS),
        reader.partition_states("a/dd", ["k"]),
        reader.partition_states("a/d", []),
        reader.landings(["a/dd", "a/d", "a/none"]),
        reader.partition_ends("a/d", ["", "k", "x"]),
        reader.partition_ends("a/dd", ["ä"]),
        reader.partition_reports("a/d", KEYS, 2),
    ]

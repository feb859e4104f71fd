"""Datasets: a name, a partition scheme, a format, a path that stays inside the project."""

import msgspec

from compiler.build.scope import Scope
from compiler.build.write import check_write, write_of
from compiler.build.zone import zone_of
from compiler.diagnostic import shown
from compiler.model import Dataset, PartitionScheme, StaticDimension, TimeDimension
from compiler.partition_key import PartitionKeyError, format_time_key, start_of
from compiler.reader.node import Mapping, Scalar, Sequence

_PATH_HINT = "write a path inside the project, such as landing/flights"


def build_dataset(key: Scalar, node: Mapping, scope: Scope) -> Dataset:
    """One dataset of an app."""
    partitions = node.mapping("partitions")
    check_write(node, scope)
    return Dataset(
        name=str(key.value),
        format="iceberg" if node.text("format") == "iceberg" else "parquet",
        partitions=_scheme(partitions, scope) if partitions else None,
        path=_path(node, scope),
        write=write_of(node),
        merge_keys=tuple(str(column.value) for column in node.strings("merge_keys")),
        description=node.text("description"),
        at=scope.at(key),
    )


def _scheme(node: Mapping, scope: Scope) -> PartitionScheme | None:
    if "cycle" in node.values and isinstance(node.values["cycle"], Scalar):
        # The short form: one dimension of time, named after its cycle.
        return PartitionScheme(time=_time(node.text("cycle"), node, scope))
    times: list[TimeDimension] = []
    statics: list[StaticDimension] = []
    for name, dimension in node.values.items():
        if isinstance(dimension, Mapping):
            times.append(_time(name, dimension, scope))
        elif isinstance(dimension, Sequence):
            keys = tuple(str(k.value) for k in node.strings(name))
            statics.append(StaticDimension(name=name, keys=keys))
    if len(times) > 1 or len(statics) > 1:
        second = list(node.keys.values())[1]
        kind = "of time" if len(times) > 1 else "with a list of keys"
        scope.findings.add(
            "V206",
            second,
            f"a scheme has at most one dimension {kind}, got {shown(second.value)} as a second",
            "keep one, or join the two into one list of keys",
        )
        return None
    return PartitionScheme(time=times[0] if times else None, static=statics[0] if statics else None)


def _time(name: str, node: Mapping, scope: Scope) -> TimeDimension:
    cycle = node.text("cycle")
    dimension = TimeDimension(
        name=name,
        cycle=cycle,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        start=node.text("start"),
        timezone=zone_of(node, scope),
    )
    try:
        first = format_time_key(start_of(dimension), dimension)
    except PartitionKeyError as error:
        scope.findings.add("V205", node.values["start"], str(error), _start_hint(cycle))
        return dimension
    except OverflowError:
        wrong = f"the first key lies within the years 1 to 9999, got {shown(dimension.start)}"
        scope.findings.add("V205", node.values["start"], wrong, _start_hint(cycle))
        return dimension
    return msgspec.structs.replace(dimension, start=first)


def _start_hint(cycle: str) -> str:
    example = "2013-01-01-00:00" if cycle in ("hour", "minute") else "2013-01-01"
    return f"write the first key of the cycle, such as {example}"


def _path(node: Mapping, scope: Scope) -> str | None:
    place = node.get("path")
    if not isinstance(place, Scalar) or not isinstance(place.value, str):
        return None
    path = place.value
    parts = path.split("/")
    wrong = None
    if path.startswith(("/", "~")) or "\\" in path or ":" in path:
        wrong = "a path is relative, with forward slashes"
    elif ".." in parts:
        wrong = "a path stays inside the project"
    elif "" in parts[:-1] or "." in parts or path != path.strip() or any(c in path for c in '*?"<>|$\n'):
        wrong = "a path is made of plain names"
    if wrong is not None:
        scope.findings.add("V207", place, f"{wrong}, got {shown(path)}", _PATH_HINT)
        return None
    return path.rstrip("/")

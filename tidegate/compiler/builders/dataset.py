"""The builder of datasets: partition scheme, format, path and write mode.

The write mode of a dataset, and whether mode, keys, format, partitions and path fit together. A mode that
cannot work is refused here, and not at the end of a run. The modes are implemented in tidegate/spark_jobs.
"""

from datetime import datetime
from urllib.parse import quote

import msgspec

from tidegate.compiler.builders.checks import build_checks
from tidegate.compiler.builders.columns import build_columns, null_checks, on_new_column_of
from tidegate.compiler.builders.failing import build_alerts, build_deadline
from tidegate.compiler.reader.node import MappingNode, ScalarNode, SequenceNode
from tidegate.compiler.scope.scope import Scope
from tidegate.compiler.values.fields import read_value
from tidegate.compiler.values.texts import MAX_NAME_BYTES, path_of, renamed_from, zone_of
from tidegate.domain.model import Dataset, Day, PartitionScheme, StaticDimension, TimeDimension
from tidegate.domain.model.dataset import Watch, WriteMode
from tidegate.domain.model.table_format import LANDED, format_facts
from tidegate.domain.partition_key import (
    PartitionKeyError,
    begins_at_start,
    format_time_key,
    start_of,
)
from tidegate.domain.time.calendar import DAY_NAMES
from tidegate.domain.wording import shown

MODES: tuple[WriteMode, ...] = ("append", "overwrite_partitions", "merge", "full")


def write_of(node: MappingNode) -> WriteMode | None:
    """Return the mode that a dataset names, or None."""
    mode = node.text("write")
    return mode if mode in MODES else None


def check_write(node: MappingNode, scope: Scope) -> None:
    """Report keys that do not fit together, each at its own place."""
    mode, facts = write_of(node), format_facts(node.text("format"))
    partitioned = node.mapping("partitions") is not None
    faults: list[tuple[str, str, str]] = []
    if mode == "overwrite_partitions" and not partitioned:
        wrong = f"a dataset without partitions has no partitions to overwrite, got {shown(mode)}"
        faults.append(("write", wrong, "write full, or give the dataset `partitions`"))
    if mode == "merge" and "merge_keys" not in node.values:
        wrong = f"merging needs the columns that identify a row, got {shown(mode)} without `merge_keys`"
        faults.append(("write", wrong, "add for example merge_keys: [flight_id]"))
    if mode != "merge" and "merge_keys" in node.values:
        wrong = f"merge keys belong to `write: merge`, got {shown(mode or 'no mode')}"
        faults.append(("merge_keys", wrong, "write merge, or delete them"))
    if facts.in_catalog and "path" in node.values:
        wrong = f"the catalog chooses the path of {facts.a_table()}, got {shown(node.text('path'))}"
        faults.append(("path", wrong, "delete the path"))
    for key, wrong, hint in faults:
        scope.findings.add("V216", node.values[key], wrong, hint)


NOT_OF_ASSETS = ("format", "write", "merge_keys", "on_foreign", "checks", "on_new_column", "watch")
"""Keys about data that Tidegate writes or finds; what becomes of an asset of others is their affair."""


def asset_of(node: MappingNode) -> tuple[str, ...]:
    """Return the parts of the asset key of a dataset; none if it has no `asset`."""
    written = node.get("asset")
    if isinstance(written, ScalarNode):
        return tuple(str(written.value).split("/"))
    return tuple(str(part.value) for part in node.strings("asset"))


def check_asset(node: MappingNode, scope: Scope) -> None:
    """Report keys beside `asset` that are about what Tidegate writes."""
    if "asset" not in node.values:
        return
    for key in NOT_OF_ASSETS:
        if key in node.values:
            name = "/".join(asset_of(node))
            wrong = f"its own code writes the asset {name}, got `{key}` beside `asset`"
            scope.findings.add("V263", node.keys[key], wrong, f"delete `{key}`, or delete `asset`")


NO_VALUES = ("__HIVE_DEFAULT_PARTITION__", "(null)")
"""How Spark, and Tidegate in its messages, name a partition without a value."""

JOINED = frozenset(",[]|")
"""What Dagster allows in no key of several dimensions."""

_DAYS: dict[str, Day] = {day: day for day in DAY_NAMES}

_PARTITION_HINT = "choose another key; put longer values into a column of their own"


def build_dataset(key: ScalarNode, node: MappingNode, scope: Scope) -> Dataset:
    """Build a dataset of an app."""
    written = node.mapping("partitions")
    partitions = build_partitions(written, scope) if written else None
    check_write(node, scope)
    check_asset(node, scope)
    checks = build_checks(node, scope)
    columns = build_columns(node, partitions, checks, scope)
    return Dataset(
        name=str(key.value),
        format=node.text("format") or LANDED,
        partitions=partitions,
        path=path_of(node, scope),
        write=write_of(node),
        merge_keys=tuple(str(column.value) for column in node.strings("merge_keys")),
        on_foreign="replace" if node.text("on_foreign") == "replace" else "refuse",
        checks=(*checks, *null_checks(node, columns, checks, scope)),
        columns=columns,
        on_new_column=on_new_column_of(node),
        renamed_from=renamed_from(node),
        allow_empty=_allows_empty(node, scope),
        watch=watch_of(node, scope),
        asset=asset_of(node),
        deadline=build_deadline(node, scope),
        owner=node.text("owner"),
        alerts=build_alerts(node),
        description=node.text("description"),
        at=scope.at(key),
    )


def _allows_empty(node: MappingNode, scope: Scope) -> bool:
    """Return whether partitions may be without files; warn where no files are landed."""
    written = node.get("allow_empty")
    if not isinstance(written, ScalarNode) or written.value is not True:
        return False
    if (
        format_facts(node.text("format")).in_catalog
        or "path" not in node.values
        or "partitions" not in node.values
    ):
        scope.findings.add(
            "V209",
            node.keys["allow_empty"],
            "`allow_empty` is for partitions of landed files, got a dataset without"
            f" {'partitions' if 'path' in node.values else '`path`'}",
            "delete `allow_empty`",
        )
    return True


def build_partitions(node: MappingNode, scope: Scope) -> PartitionScheme | None:
    """Build a partition scheme of a dataset or a program; None after reporting an error."""
    if "cycle" in node.values and isinstance(node.values["cycle"], ScalarNode):
        # The short form: one time dimension, named after its cycle.
        return PartitionScheme(time=_time(node.text("cycle"), node, scope))
    times: list[TimeDimension] = []
    statics: list[StaticDimension] = []
    for name, dimension in node.values.items():
        if isinstance(dimension, MappingNode):
            times.append(_time(name, dimension, scope))
        elif isinstance(dimension, SequenceNode):
            statics.append(StaticDimension(name=name, keys=_keys(name, node, scope)))
    if len(times) > 1 or len(statics) > 1:
        second = list(node.keys.values())[1]
        kind = "time dimension" if len(times) > 1 else "dimension with a list of keys"
        scope.findings.add(
            "V206",
            second,
            f"a partition scheme has at most one {kind}, got {shown(second.value)} as a second one",
            "keep one, or join the two into one list of keys",
        )
        return None
    return PartitionScheme(time=times[0] if times else None, static=statics[0] if statics else None)


def _keys(name: str, node: MappingNode, scope: Scope) -> tuple[str, ...]:
    """Return the keys of a static dimension: each is a folder name and a partition key of Dagster."""
    most = MAX_NAME_BYTES - len(name) - 1
    for place in node.strings(name):
        key, wrong = str(place.value), None
        if "..." in key:
            wrong = 'a key must not contain "...": Dagster refuses it'
        elif key in NO_VALUES:
            wrong = "this key means that there is no value"
        elif not key.isprintable():
            wrong = "a key has no control characters"
        elif len(node.values) > 1 and not JOINED.isdisjoint(key):
            wrong = "beside another dimension a key must have none of , [ ] |: Dagster refuses them"
        elif len(quote(key, safe="")) > most:
            wrong = (
                f"as a folder name, with most signs escaped as three or more, a key has at most {most} bytes"
            )
        if wrong is not None:
            scope.findings.add("V205", place, f"{wrong}, got {shown(key)}", _PARTITION_HINT)
    return tuple(str(place.value) for place in node.strings(name))


def _time(name: str, node: MappingNode, scope: Scope) -> TimeDimension:
    cycle = node.text("cycle")
    dimension = TimeDimension(
        name=name,
        cycle=cycle,  # pyright: ignore[reportArgumentType] - one of the schema's enum
        start=node.text("start"),
        timezone=zone_of(node, scope),
        week_starts=week_starts_of(node, scope.week_starts),
    )
    try:
        first = format_time_key(start_of(dimension), dimension)
    except PartitionKeyError as error:
        scope.findings.add("V205", node.values["start"], str(error), _start_hint(dimension))
        return dimension
    except OverflowError:
        wrong = f"the first key is in the years 1 to 9999, got {shown(dimension.start)}"
        scope.findings.add("V205", node.values["start"], wrong, _start_hint(dimension))
        return dimension
    _check_effect(dimension, first, node, scope)
    return msgspec.structs.replace(dimension, start=first)


def _check_effect(dimension: TimeDimension, first: str, node: MappingNode, scope: Scope) -> None:
    """Warn of a `start` within a period, and of a `week_starts` without weeks."""
    if not begins_at_start(dimension):
        scope.findings.add(
            "V230",
            node.values["start"],
            f"no {dimension.cycle} begins at {shown(dimension.start)}, so the first partition is {first}",
            f"write start: {first}, or the key before it to include the {dimension.cycle} that contains it",
        )
    if "week_starts" in node.values and dimension.cycle in ("month", "year"):
        scope.findings.add(
            "V209",
            node.keys["week_starts"],
            f"weeks do not matter to partitions longer than a week, got `cycle: {dimension.cycle}`",
            "delete `week_starts`",
        )


def week_starts_of(node: MappingNode, otherwise: Day) -> Day:
    """Return the day at `week_starts`, or another one where there is none."""
    return _DAYS.get(node.text("week_starts"), otherwise)


def _start_hint(dimension: TimeDimension) -> str:
    """Return how to write a wrong `start`: its own date and time as a key if it has one, else an example."""
    try:
        wall = datetime.fromisoformat(dimension.start.strip())
    except ValueError:
        wall = datetime(2013, 1, 1)
    form = "%Y-%m-%d-%H:%M" if dimension.cycle in ("hour", "minute") else "%Y-%m-%d"
    return f"write the first key of the cycle, such as {wall.strftime(form)}"


def watch_of(node: MappingNode, scope: Scope) -> Watch | None:
    """Return how a dataset is watched; None if it is not."""
    written = node.get("watch")
    if isinstance(written, ScalarNode):
        return Watch() if written.value is True else None
    if not isinstance(written, MappingNode):
        return None
    if written.text("marker") and "settle" in written.values:
        scope.findings.add(
            "V209",
            written.keys["settle"],
            "with a `marker` that file alone says that a partition is complete, got `settle` beside it",
            "delete `settle`",
        )
    return read_value(Watch, written, scope) or Watch()

"""The Dagster names of assets, ops, schedules and sensors.

Asset keys contain the app. Ops and schedules keep their YAML name where it is unique in the
code location, since Dagster refuses to load a location with duplicate names; otherwise the
app's name is the prefix. In a code location of others all of them have our prefix, too. The names depend
only on what is deployed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tidegate.domain.model import App, Dataset, Program
from tidegate.domain.part_name import SEPARATOR, whole_name

if TYPE_CHECKING:
    from dagster import AssetKey

DIGEST_DIGITS = 8

PREFIX = "tidegate_"
"""How our names begin in a code location of others."""

RECOVERY = "tidegate_recover_commits"
RECOVERY_OP = "finish_and_clean"
"""The recovery job, its schedule and its op: see `dagster_defs.run.recovery`."""

MAINTENANCE = "tidegate_maintenance"
MAINTENANCE_OP = "tidegate_run_operation"
"""The job that carries out an operation on a table, and its op: see `dagster_defs.maintenance`."""

MEASURING = "tidegate_measure"
MEASURING_OP = "tidegate_measure_tables"
"""The job that lists tables and measures their health, and its op."""

ALL_ASSETS_JOB = "__ASSET_JOB"
"""The job that Dagster creates of all assets; it exists when the location has an asset."""

DISPATCHER = "tidegate_dispatcher"
"""The sensor that drives the engine for all apps of a project: see `dagster_defs.dispatch.dispatcher`."""

NOTHING_DEPLOYED = "tidegate_nothing_deployed"
"""The sensor of a code location without apps: see `dagster_defs.definitions.definitions`."""

RESERVED = frozenset(
    {"context", "conf", "config", "meta", "arg_dict", "dict", "input_arg_dict", "output_arg_dict"}
    | {"int", "str", "float", "bool", "input", "output", "type"}
    | {RECOVERY, RECOVERY_OP, MAINTENANCE, MAINTENANCE_OP, MEASURING, MEASURING_OP}
    | {DISPATCHER, NOTHING_DEPLOYED}
)
"""Names that Dagster refuses for ops, schedules and sensors, and names that are in use."""

Owned = tuple[str, str]
"""An app's name and a name within that app."""


def _key(path: Iterable[str]) -> "AssetKey":
    # Who needs a name alone, as `tidegate status` does, has not to wait for Dagster.
    from dagster import AssetKey

    return AssetKey(list(path))


def asset_key(app: str, dataset: str) -> "AssetKey":
    """Return the asset key of a dataset of our own.

    Args:
        app: the app that names the dataset, which may be another app's ("other/name").
    """
    return _key(whole_name(app, dataset).split(SEPARATOR))


def key_of_dataset(app: str, name: str, dataset: Dataset | None) -> "AssetKey":
    """Return the asset key of a dataset, which may be that of an asset of others.

    Args:
        app: the app that names the dataset.
        name: as the app names it.
        dataset: None for one that is not deployed any more.
    """
    return _key(dataset.asset) if dataset is not None and dataset.asset else asset_key(app, name)


def program_key(app: App, program: Program) -> "AssetKey":
    """Return the asset key of a program that owns no dataset."""
    name = program.name if program.name not in app.datasets else f"{program.name}_program"
    return _key([app.name, name])


def table_key(table: str) -> "AssetKey":
    """Return the asset key under which Dagster shows the maintenance of a table.

    Args:
        table: "app/dataset", whose asset it is, or "catalog.namespace.table".
    """
    if SEPARATOR in table:
        return _key(table.split(SEPARATOR))
    return _key(["maintenance", *table.split(".", 2)])


def unique_names(owned: Iterable[Owned], prefix: str = "") -> Mapping[Owned, str]:
    """Return a name for each item that is valid in Dagster and unique in the code location.

    Args:
        owned: the items to name, all different.
        prefix: how each name begins.
    """
    everything = sorted(set(owned))
    used = set(RESERVED)
    count = Counter(name for _, name in everything)
    names: dict[Owned, str] = {}
    for app, name in everything:
        short = prefix + name
        if count[name] == 1 and short not in used:
            names[app, name] = short
    used |= set(names.values())
    for app, name in everything:
        if (app, name) in names:
            continue
        long = f"{prefix}{app}__{name}"
        if long in used:
            long += "_" + hashlib.sha256(f"{app}/{name}".encode()).hexdigest()[:DIGEST_DIGITS]
        used.add(long)
        names[app, name] = long
    return names

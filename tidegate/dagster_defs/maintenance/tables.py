"""The tables of the engine in the terms of others: of `spark_jobs.maintenance`, and of Dagster's assets.

    files, snapshots, …                  as measured after the operation
    files_before, snapshots_before, …    as measured before it
    rewritten_bytes, and the counts that the operation reports

An observation is an event of the asset without new data. The engine's ingestion does not read it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from dagster import AssetObservation, FloatMetadataValue, IntMetadataValue, MetadataValue

from tidegate.dagster_defs.deployed.names import table_key
from tidegate.domain.error import UserError
from tidegate.domain.maintenance.measures import MEASURES
from tidegate.domain.model import App
from tidegate.domain.part_name import Ref
from tidegate.scheduler.model.job import Job
from tidegate.scheduler.model.maintenance import Ended
from tidegate.spark_jobs.datasets.dataset_ref import dataset_ref
from tidegate.spark_jobs.maintenance.request import TableTarget

ELSEWHERE = "{} belongs to another project, and no data of it is in the warehouse of this one"
"""Of a dataset whose table was not found."""


class NoDataset(UserError):
    """The dataset of a table is not deployed any more."""


def target_of(name: str, dataset: str | None, catalog_name: str, apps: Mapping[str, App]) -> TableTarget:
    """Return a table.

    Args:
        dataset: "app/dataset"; None for a table that is not a dataset.

    Raises:
        NoDataset: its dataset is not deployed.
    """
    if dataset is None:
        return TableTarget(name=name, catalog_name=catalog_name)
    app, part = Ref.of(dataset)
    found = None if app not in apps else apps[app].datasets.get(part)
    if found is None:
        raise NoDataset(
            f"dataset {dataset} is not deployed any more", "deploy it, or leave it out of policies"
        )
    return TableTarget(name=name, ref=dataset_ref(app, found))


BEFORE = "_before"
"""Ends the name of what was measured before the operation."""

TEXT_CHARACTERS = 2_000
"""A longer list of a result is cut: the store has all of it."""

Metadata = dict[str, MetadataValue[Any]]


def observation_of(job: Job, ended: Ended) -> AssetObservation:
    """Return the observation of an operation that has ended."""
    work = job.work
    return AssetObservation(
        table_key(work.table),
        description=f"{work.operation} by policy {work.policy}: {ended.ending}",
        metadata={
            "operation": MetadataValue.text(str(work.operation)),
            "ending": MetadataValue.text(str(ended.ending)),
            "policy": MetadataValue.text(work.policy),
            "job": MetadataValue.text(job.id),
            **numbers_of(ended),
        },
    )


def numbers_of(ended: Ended) -> Metadata:
    """Return what a run has measured and done."""
    found: Metadata = {}
    for suffix, values in (("", ended.after), (BEFORE, ended.before)):
        found |= {f"{name}{suffix}": _measure(name, values[name]) for name in MEASURES if name in values}
    found["rewritten_bytes"] = MetadataValue.int(ended.bytes)
    found |= dict(_results(ended.results))
    if ended.detail:
        found["detail"] = MetadataValue.text(ended.detail)
    return found


def _measure(name: str, value: float) -> IntMetadataValue | FloatMetadataValue:
    """Return a measure; a count is a whole number unless it was extrapolated."""
    if MEASURES[name].unit in ("count", "bytes") and float(value).is_integer():
        return MetadataValue.int(int(value))
    return MetadataValue.float(float(value))


def _results(results: Mapping[str, Any]) -> Iterator[tuple[str, MetadataValue[Any]]]:
    for name, value in results.items():
        match value:
            case bool() | str():
                yield name, MetadataValue.text(str(value)[:TEXT_CHARACTERS])
            case int():
                yield name, MetadataValue.int(value)
            case float():
                yield name, MetadataValue.float(value)
            case None:
                continue
            case _:
                text = str(value)
                cut = len(text) > TEXT_CHARACTERS
                yield name, MetadataValue.text(text[:TEXT_CHARACTERS]) if cut else MetadataValue.json(value)

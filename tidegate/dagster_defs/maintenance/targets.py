"""Targets: the tables of the engine as `spark_jobs.maintenance` names them."""

from collections.abc import Mapping

from tidegate.domain.error import UserError
from tidegate.domain.model import App
from tidegate.domain.part_name import Ref
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

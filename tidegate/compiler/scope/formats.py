"""What determines the table formats of datasets that name none; `default_format.py` applies it."""

from collections.abc import Iterable, Mapping

from tidegate.domain.model import App
from tidegate.domain.model.table_format import LANDED, DatasetFormat
from tidegate.domain.value import Value


class Formats(Value, kw_only=True):
    """What determines the format of a dataset that names none.

    Attributes:
        default: the format of new datasets that a program writes.
        deployed: the formats of the deployed datasets, by "app/dataset".
    """

    default: DatasetFormat = LANDED
    deployed: Mapping[str, DatasetFormat] = {}


NO_FORMATS = Formats()


def deployed_formats(apps: Iterable[App]) -> dict[str, DatasetFormat]:
    """Return the formats of the datasets of deployed apps."""
    return {f"{app.name}/{one.name}": one.format for app in apps for one in app.datasets.values()}

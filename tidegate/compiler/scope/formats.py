"""What determines the table formats of datasets that name none; `default_format.py` applies it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from tidegate.domain.model import App
from tidegate.domain.model.table_format import LANDED, DatasetFormat
from tidegate.domain.part_name import app_of
from tidegate.domain.value import Value


class Formats(Value, kw_only=True):
    """What determines the format of a dataset that names none.

    Attributes:
        default: the format of new datasets that a program writes.
        deployed: the formats of the deployed datasets, by "app/dataset".
        digests: of deployed apps, by name, as far as they are known (`content_digest`): an app with the same
            digest has the formats of its datasets.
    """

    default: DatasetFormat = LANDED
    deployed: Mapping[str, DatasetFormat] = {}
    digests: Mapping[str, str] = {}


NO_FORMATS = Formats()


def deployed_formats(apps: Iterable[App]) -> dict[str, DatasetFormat]:
    """Return the formats of the datasets of deployed apps."""
    return {f"{app.name}/{one.name}": one.format for app in apps for one in app.datasets.values()}


APPS_READ = 20
"""Of more apps the formats are read of all at once."""


class StoredFormats(Mapping[str, DatasetFormat]):
    """The formats of deployed datasets, read app by app, once one of its datasets is asked for.

    Args:
        apps: the names of the deployed apps.
        read: returns those of some names.
    """

    def __init__(self, apps: Collection[str], read: Callable[[Collection[str]], Iterable[App]]) -> None:
        self._unread, self._read = set(apps), read
        self._reads = 0
        self._found: dict[str, DatasetFormat] = {}

    def __getitem__(self, name: str) -> DatasetFormat:
        """Return the format of a dataset."""
        app = app_of(name)
        if app in self._unread:
            self._reads += 1
            self._load((app,) if self._reads <= APPS_READ else tuple(self._unread))
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        """Yield the names of all datasets."""
        self._load(tuple(self._unread))
        return iter(self._found)

    def __len__(self) -> int:
        """Return how many datasets there are."""
        return sum(1 for _ in self)

    def __bool__(self) -> bool:
        """Return whether apps are deployed; none is read for that."""
        return bool(self._unread or self._found)

    def _load(self, apps: Collection[str]) -> None:
        self._unread.difference_update(apps)
        self._found |= deployed_formats(self._read(apps))

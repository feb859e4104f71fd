"""Datasets of a deployment in folders that other projects of the store use.

Lint checks the files of one project (V207). Paths are relative to each project's own folder, so the same
path in two projects may be two folders, and two paths may be one folder. Only a folder that is new, or moves,
is compared: what was deployed by force is not refused again. Pure.
"""

from collections.abc import Iterator, Mapping

from tidegate.compiler.folder_index import FolderIndex
from tidegate.compiler.plan.blocked import Blocked
from tidegate.compiler.plan.ownership import Storage
from tidegate.domain.model import App
from tidegate.domain.value import Value

_ANOTHER_MACHINE = "; --force deploys it if the two are on different machines"


class Neighbours(Value, kw_only=True):
    """The deployed apps that a deployment does not touch, and where each project has its data.

    Attributes:
        apps: these apps, by name.
        owners: the project of each of them.
        storages: by project; absent for a project that has not deployed since storages are recorded.
    """

    apps: dict[str, App]
    owners: dict[str, str]
    storages: dict[str, Storage]

    def in_warehouse(self, project: str, storage: Storage | None) -> dict[str, App]:
        """Return the apps that are known to be in the same warehouse as a project."""
        return {
            name: app
            for name, app in self.apps.items()
            if self.owners[name] == project
            or (storage is not None and self._warehouse(name) == storage.warehouse)
        }

    def _warehouse(self, app: str) -> str | None:
        storage = self.storages.get(self.owners[app])
        return None if storage is None else storage.warehouse


class _Others:
    """The folders of the other projects: with what is in each, and what to do about it."""

    def __init__(self, neighbours: Neighbours, project: str) -> None:
        self.datasets: FolderIndex[tuple[str, str]] = FolderIndex()
        self.warehouses: FolderIndex[tuple[str, str]] = FolderIndex()
        for app in neighbours.apps.values():
            owner = neighbours.owners[app.name]
            storage = neighbours.storages.get(owner)
            if storage is None or owner == project:
                continue
            warehouse = f'the warehouse of project "{owner}"'
            self.warehouses.add(_plain(storage.warehouse), (warehouse, "choose a folder outside of it"))
            for ref, folder in _folders({app.name: app}, storage).items():
                remedy = (
                    f"to wait for that data or read it, name it {ref} and delete this dataset; else choose a"
                    " folder that is neither inside nor around it"
                )
                self.datasets.add(folder, (f'dataset {ref} of project "{owner}"', remedy))


def shared_folders(
    before: Mapping[str, App],
    after: Mapping[str, App],
    neighbours: Neighbours,
    project: str,
    storage: Storage | None,
) -> Iterator[Blocked]:
    """Yield the blocks of folders that a deployment would share with another project.

    Args:
        before: the deployed apps that the deployment is about, by name.
        after: the same after it.
        project: the project that deploys.
        storage: where it has its data; None to compare nothing.
    """
    if storage is None:
        return
    former = neighbours.storages.get(project)
    known = {} if former is None else _folders(before, former)
    others = _Others(neighbours, project)
    for ref, folder in _folders(after, storage).items():
        found = others.datasets.find(folder) or others.warehouses.find(folder)
        if found is not None and known.get(ref) != folder:
            yield _block(f"dataset {ref}", folder, *found)
    found = others.datasets.find(_plain(storage.warehouse))
    if found is not None and (former is None or former.warehouse != storage.warehouse):
        yield _block(
            "the warehouse of this project", storage.warehouse, found[0], "choose another [warehouse] path"
        )


def _block(what: str, folder: str, other: str, remedy: str) -> Blocked:
    return Blocked(
        summary=f"{what} would share files with {other}, in {folder}",
        remedy=f"{remedy}{_ANOTHER_MACHINE}",
        forcible=True,
    )


def _folders(apps: Mapping[str, App], storage: Storage) -> dict[str, str]:
    """Return the folder of each dataset with a path, by "app/dataset"."""
    return {
        f"{app.name}/{dataset.name}": f"{_plain(storage.paths_from)}/{dataset.path}"
        for app in apps.values()
        for dataset in app.datasets.values()
        if dataset.path is not None
    }


def _plain(folder: str) -> str:
    """Return a local folder as a path, and a URL as it is, without a slash at its end."""
    local = folder.removeprefix("file:")
    return folder.rstrip("/") if local == folder else f"/{local.strip('/')}"

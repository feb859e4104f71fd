"""Datasets of a deployment in folders that other apps of the store use.

Lint checks the files of one project (V207); it does not know what is deployed. So an app of the project that
is no longer in its files, and still deployed, is compared here. Apps of other projects are compared too:
paths are relative to each project's own folder, so the same path in two projects may be two folders, and two
paths may be one folder. Only a folder that is new, or moves, is compared: what is deployed is not refused
again. Pure.
"""

from collections.abc import Collection, Iterator, Mapping

from tidegate.compiler.folder_index import FolderIndex, plain_folder
from tidegate.compiler.plan.blocked import Blocked
from tidegate.compiler.plan.ownership import Storage
from tidegate.domain.model import App
from tidegate.domain.part_name import app_of
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
            self.warehouses.add(plain_folder(storage.warehouse), (warehouse, "choose a folder outside of it"))
            for ref, folder in _folders({app.name: app}, storage).items():
                remedy = (
                    f"to wait for that data or read it, name it {ref} and delete this dataset; else choose a"
                    f" folder that is neither inside nor around it, or remove app {app.name} from project"
                    f' "{owner}" with `--remove-apps` if its YAML no longer has it'
                )
                self.datasets.add(folder, (f'dataset {ref} of project "{owner}"', remedy))


def shared_folders(
    before: Mapping[str, App],
    after: Mapping[str, App],
    neighbours: Neighbours,
    project: str,
    storage: Storage | None,
    yaml: Collection[str],
    same: Collection[str] = (),
) -> Iterator[Blocked]:
    """Yield the blocks of folders that a deployment would share with an app that it does not touch.

    Args:
        before: the deployed apps that the deployment is about, by name.
        after: the same after it.
        project: the project that deploys.
        storage: where it has its data; None to compare nothing with other projects.
        yaml: the names of all apps of the project's YAML.
        same: the apps that are equal before and after it.
    """
    old, new = _without(before, same), _without(after, same)
    yield from _shared_within(old, new, neighbours, project, yaml)
    if storage is not None:
        moved = neighbours.storages.get(project) != storage
        yield from _shared_with_others(
            before if moved else old, after if moved else new, neighbours, project, storage
        )


def _without(apps: Mapping[str, App], same: Collection[str]) -> Mapping[str, App]:
    return {name: app for name, app in apps.items() if name not in same}


def _shared_within(
    before: Mapping[str, App],
    after: Mapping[str, App],
    neighbours: Neighbours,
    project: str,
    yaml: Collection[str],
) -> Iterator[Blocked]:
    """Yield the blocks of folders that apps of the project have which the deployment leaves as they are."""
    left: FolderIndex[tuple[str, str]] = FolderIndex()
    for app in neighbours.apps.values():
        if neighbours.owners[app.name] == project:
            for ref, folder in _paths({app.name: app}).items():
                left.add(folder, (app.name, ref))
    known = _paths(before)
    for ref, folder in _paths(after).items():
        found = left.find(folder)
        if found is None or known.get(ref) == folder:
            continue
        (old, other), new = found, app_of(ref)
        if old in yaml:
            why = f"app {old} has it until app {old} is deployed too"
            remedy = f"deploy both at once: `--app {old} --app {new}`, or all apps without `--app`"
        else:
            why = f"app {old} is not in the YAML and still deployed"
            rename = (
                "" if new in before else f"write `renamed_from: {old}` in app {new} if it is the same app; "
            )
            remedy = f"{rename}`tidegate deploy --remove-apps` removes app {old}"
        yield Blocked(
            summary=f"dataset {ref} would share files with dataset {other}, in {folder}: {why}",
            remedy=remedy,
        )


def _shared_with_others(
    before: Mapping[str, App],
    after: Mapping[str, App],
    neighbours: Neighbours,
    project: str,
    storage: Storage,
) -> Iterator[Blocked]:
    former = neighbours.storages.get(project)
    known = {} if former is None else _folders(before, former)
    others = _Others(neighbours, project)
    for ref, folder in _folders(after, storage).items():
        found = others.datasets.find(folder) or others.warehouses.find(folder)
        if found is not None and known.get(ref) != folder:
            yield _block(f"dataset {ref}", folder, *found)
    found = others.datasets.find(plain_folder(storage.warehouse))
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
    return {ref: f"{plain_folder(storage.paths_from)}/{path}" for ref, path in _paths(apps).items()}


def _paths(apps: Mapping[str, App]) -> dict[str, str]:
    """Return the path of each dataset that has one, by "app/dataset"."""
    return {
        f"{app.name}/{dataset.name}": dataset.path
        for app in apps.values()
        for dataset in app.datasets.values()
        if dataset.path is not None
    }

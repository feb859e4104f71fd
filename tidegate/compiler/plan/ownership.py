"""Which apps of a shared store a deployment may touch: those of the project that deploys.

A store may hold the apps of several projects. Each app has one owner, the project that deployed it first;
an app that a deployment of no project made has none until a project deploys an app of its name. Pure.
"""

from collections.abc import Collection, Mapping

from tidegate.domain.part_name import DEFAULT_NAMESPACE
from tidegate.domain.value import Value

NO_PROJECT = ""
"""The owner of an app without an owner, and the project of a deployment that belongs to none."""


class TakenApp(Value, kw_only=True, omit_defaults=True):
    """An app of the YAML that cannot be deployed, since another project owns the app of its name.

    Attributes:
        name: of the app.
        owner: the project that owns it.
        namespace: of the owner, where it is not that of the project that deploys; else "".
    """

    name: str
    owner: str
    namespace: str = ""

    @property
    def summary(self) -> str:
        where = f' of the namespace "{self.namespace}"' if self.namespace else ""
        return f'app {self.name} belongs to project "{self.owner}"{where}'

    @property
    def remedy(self) -> str:
        return (
            f'rename the app; if this project is "{self.owner}" itself under another name, write'
            f' name = "{self.owner}" below [project] in tidegate.toml'
        )


class Storage(Value, kw_only=True):
    """Where a project has its data: absolute folders or URLs.

    Attributes:
        paths_from: what the `path` of a dataset is relative to.
        warehouse: the datasets without a `path`, "app/name".
    """

    paths_from: str
    warehouse: str


class Scope(Value, kw_only=True):
    """What a deployment is about.

    Attributes:
        project: the project that deploys; it owns what it deploys.
        namespace: of the project.
        only: the apps to look at, by name; None for all of the project.
        removable: the deployed apps of the project that may be removed where the YAML does not have them;
            None for each of them.
        storage: where the project has its data; None if it is not known.
    """

    project: str = NO_PROJECT
    namespace: str = DEFAULT_NAMESPACE
    only: frozenset[str] | None = None
    removable: frozenset[str] | None = None
    storage: Storage | None = None


class Reach(Value, kw_only=True):
    """How far a deployment reaches.

    Attributes:
        wanted: apps of the YAML that are deployed.
        removed: apps of the store that are removed.
        stays: apps of the project that the YAML does not have and that stay, because their removal is not
            confirmed.
        adopted: apps of `wanted` that exist without an owner and get one.
        taken: apps of the YAML that belong to other projects.
    """

    wanted: frozenset[str]
    removed: frozenset[str]
    stays: tuple[str, ...]
    adopted: tuple[str, ...]
    taken: tuple[TakenApp, ...]


def reach(
    owners: Mapping[str, str],
    wanted: Collection[str],
    scope: Scope,
    namespaces: Mapping[str, str] | None = None,
) -> Reach:
    """Decide which apps a deployment touches.

    Args:
        owners: the owner of each deployed app, by app.
        namespaces: the namespace of each deployed app; by default that of the project.
        wanted: the apps of the project's YAML.
    """
    names = frozenset(name for name in wanted if scope.only is None or name in scope.only)
    others = {name for name, owner in owners.items() if owner not in (NO_PROJECT, scope.project)}
    absent = {
        name
        for name, owner in owners.items()
        if owner == scope.project and name not in wanted and (scope.only is None or name in scope.only)
    }
    removed = absent if scope.removable is None else absent & scope.removable
    mine = names - others
    return Reach(
        wanted=mine,
        removed=frozenset(removed),
        stays=tuple(sorted(absent - removed)),
        adopted=tuple(sorted(name for name in mine if owners.get(name, scope.project) != scope.project)),
        taken=tuple(_taken(name, owners[name], namespaces or {}, scope) for name in sorted(names & others)),
    )


def _taken(name: str, owner: str, namespaces: Mapping[str, str], scope: Scope) -> TakenApp:
    namespace = namespaces.get(name, scope.namespace)
    return TakenApp(name=name, owner=owner, namespace="" if namespace == scope.namespace else namespace)

"""The rule that datasets do not share or nest folders: each would read the files of the other.

It holds among all apps that are compiled together, and for the warehouse, where datasets without a `path`
are. An app reads the dataset of another one by naming it, not by declaring its folder again.
"""

from tidegate.compiler.diagnostics.diagnostic import Findings, Related
from tidegate.compiler.folder_index import FolderIndex, folder_and_parents
from tidegate.domain.model import App, At, Dataset
from tidegate.domain.wording import shown

_OWN_HINT = "give each a folder that is neither inside nor around the other's"


class Folders:
    """The folders of the datasets that were checked so far.

    Args:
        warehouse: the folder of the warehouse, relative to where paths begin; "" if all paths are inside it,
            None if it is elsewhere.
    """

    def __init__(self, warehouse: str | None = None) -> None:
        self._index: FolderIndex[tuple[str, Dataset, At]] = FolderIndex()
        self._warehouse = warehouse

    def check(self, app: App, findings: Findings) -> None:
        """Report each dataset of an app whose folder equals, contains or is inside an earlier one."""
        for dataset in app.datasets.values():
            at = dataset.at
            if dataset.path is None or at is None:
                continue
            other = self._index.find(dataset.path)
            if other is not None:
                _report((app.name, dataset, at), other, findings)
            elif self._warehouse is not None and _meet(dataset.path, self._warehouse):
                elsewhere = "or write a path outside"
                if not self._warehouse:
                    elsewhere = "or give the warehouse a folder of its own, [warehouse] path in tidegate.toml"
                findings.add(
                    "V207",
                    at,
                    f"a dataset with a path is outside the warehouse, got {shown(dataset.path)}"
                    f" and the warehouse {shown(self._warehouse or '.')}",
                    f"delete `path`: the warehouse has a folder for it; {elsewhere}",
                )
            self._index.add(dataset.path, (app.name, dataset, at))


def _meet(path: str, warehouse: str) -> bool:
    """Return whether a folder is in or around the warehouse."""
    if not warehouse:
        return True
    inner, outer = folder_and_parents(path), folder_and_parents(warehouse)
    return inner[-1] in outer or outer[-1] in inner


def _report(found: tuple[str, Dataset, At], earlier: tuple[str, Dataset, At], findings: Findings) -> None:
    app, dataset, at = found
    owner, other, other_at = earlier
    name = other.name if owner == app else f"{owner}/{other.name}"
    hint = _OWN_HINT
    if owner != app:
        hint = f"to wait for that data or read it, name it {name} and delete this dataset; else {_OWN_HINT}"
    findings.add(
        "V207",
        at,
        f'a dataset has a folder of its own, got "{dataset.path}" beside "{other.path}" of {name}',
        hint,
        (Related(at=other_at, note=f"{name} is here"),),
    )

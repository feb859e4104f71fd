"""Which reported partitions of landed files have no files, as far as a look at local folders can say.

The run that reads such a partition fails and names the folder (`spark_jobs.datasets.landed`); who reports
hears of it at once.
"""

from collections.abc import Iterable
from itertools import permutations, product
from pathlib import Path
from urllib.parse import quote

from tidegate.domain.model import App
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, bare_folder, dataset_ref
from tidegate.spark_jobs.files.filesystem import is_data
from tidegate.spark_jobs.files.scheme import is_local, local_path

LOOKED_AT_MAX = 1_000
"""Partitions of one report that are looked at."""


def without_files(app: App, dataset: str, keys: Iterable[str], warehouse: Warehouse) -> dict[str, str]:
    """Say of each partition that a reader would find without files what is wrong, by key.

    Empty for what programs of the app write, for what may be empty, and for folders that are not local.
    """
    found = app.datasets[dataset]
    if (
        found.path is None
        or found.allow_empty
        or any(dataset in each.writes for each in app.programs.values())
    ):
        return {}
    ref = dataset_ref(app.name, found)
    root = ref.root(warehouse)
    if not is_local(root):
        return {}
    folder = Path(local_path(root))
    looked_at = sorted(set(keys))[:LOOKED_AT_MAX]
    return {key: _lack(ref, folder, key) for key in looked_at if not _has_files(ref, folder, key)}


def _lack(ref: DatasetRef, root: Path, key: str) -> str:
    """Say where there are no files, or which folder is named by the key alone."""
    for order in permutations(ref.parts(key).items()):
        for names in product(*(_names(*each) for each in order)):
            alone = root.joinpath(*names)
            if ref.scheme is not None and _has_data(alone):
                return bare_folder(ref.scheme, str(alone), key)
    return f"there are no files in {root / ref.partition_folder(key)}; a run that reads it fails"


def _names(dimension: str, value: str) -> list[str]:
    quoted = quote(value, safe="")
    alone = [name for name in (value, quoted) if is_data(name) and "/" not in name]
    return [f"{dimension}={quoted}", *alone]


def _has_files(ref: DatasetRef, root: Path, key: str) -> bool:
    """Return whether a partition has a file; its folders may be in any order."""
    names = [name for name in ref.partition_folder(key).split("/") if name]
    return any(_has_data(root.joinpath(*order)) for order in permutations(names))


def _has_data(folder: Path) -> bool:
    try:
        return any(is_data(each.name) and each.is_file() for each in folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        # What this user may not read, the run may.
        return True

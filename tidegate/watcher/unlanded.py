"""What is wrong with reported partitions of landed files, as far as a look at local folders can say.

The run that reads a partition without files, or with other files, fails (`spark_jobs.datasets.landed`); who
reports hears of it at once.
"""

from collections.abc import Iterable
from itertools import permutations, product
from pathlib import Path
from urllib.parse import quote

from tidegate.domain.model import App
from tidegate.spark_jobs.datasets.dataset_ref import DatasetRef, Warehouse, bare_folder, dataset_ref
from tidegate.spark_jobs.files.filesystem import is_data
from tidegate.spark_jobs.files.scheme import is_local, local_path
from tidegate.watcher.parquet import fault_of_local

SHOWN_MAX = 10
"""Partitions without files that are named."""

LOOKED_AT_MAX = 1_000
"""Partitions of one report that are looked at."""


def faults_of_report(app: App, dataset: str, keys: Iterable[str], warehouse: Warehouse) -> list[str]:
    """Return why a report is most likely a mistake: one line each, the first ones of many.

    The command line refuses such a report, the server answers with the lines beside it. Empty for a dataset
    that has gone since it was reported.
    """
    if dataset not in app.datasets:
        return []
    ref = f"{app.name}/{dataset}"
    writer = app.owners().get(dataset)
    if writer is not None:
        return [f"{ref}: program {writer} writes it, and its publishes are reported by themselves"]
    found = without_files(app, dataset, keys, warehouse, described=SHOWN_MAX)
    lines = [f"{f'{ref} {key}'.strip()}: {lack}" for key, lack in list(found.items())[:SHOWN_MAX]]
    return lines + [f"{len(found) - SHOWN_MAX} more have none"] * (len(found) > SHOWN_MAX)


def without_files(
    app: App, dataset: str, keys: Iterable[str], warehouse: Warehouse, described: int = LOOKED_AT_MAX
) -> dict[str, str]:
    """Say of each partition that has no files for a reader, or other files, what is wrong, by key.

    Empty for what programs of the app write, for what may be empty, and for folders that are not local.

    Args:
        described: the first ones; of further ones without files nothing is said.
    """
    found = app.datasets[dataset]
    if found.path is None or any(dataset in each.writes for each in app.programs.values()):
        return {}
    ref = dataset_ref(app.name, found)
    root = ref.root(warehouse)
    if not is_local(root):
        return {}
    folder = Path(local_path(root))
    looked_at, is_absent = sorted(set(keys))[:LOOKED_AT_MAX], _is_absent(folder)
    lacks: dict[str, str] = {}
    for key in looked_at:
        files = [] if is_absent else _files(ref, folder, key)
        if files is None or (not files and found.allow_empty):
            continue
        marker = found.watch.marker if found.watch is not None else ""
        faults = (fault_of_local(file) for file in files if file.name != marker)
        fault = next((fault for fault in faults if fault is not None), None)
        if fault is not None or not files:
            # A description looks at further folders.
            lacks[key] = fault or ("" if len(lacks) >= described else _lack(ref, folder, key))
    return lacks


def _lack(ref: DatasetRef, root: Path, key: str) -> str:
    """Say where there are no files, or which folder is named by the key alone."""
    for order in permutations(ref.parts(key).items()):
        for names in product(*(_names(*each) for each in order)):
            alone = root.joinpath(*names)
            if ref.scheme is not None and _data_in(alone):
                return bare_folder(ref.scheme, str(alone), key)
    return f"there are no files in {root / ref.partition_folder(key)}; a run that reads it fails"


def _names(dimension: str, value: str) -> list[str]:
    quoted = quote(value, safe="")
    alone = [name for name in (value, quoted) if is_data(name) and "/" not in name]
    return [f"{dimension}={quoted}", *alone]


def _files(ref: DatasetRef, root: Path, key: str) -> list[Path] | None:
    """Return the files of a partition, whose folders may be in any order; None if they are not readable."""
    names = [name for name in ref.partition_folder(key).split("/") if name]
    found = [_data_in(root.joinpath(*order)) for order in permutations(names)]
    if any(each is None for each in found):
        return None
    return [file for each in found for file in each or ()]


def _is_absent(folder: Path) -> bool:
    """Return whether a folder is missing, so that no partition has files in it."""
    try:
        folder.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def _data_in(folder: Path) -> list[Path] | None:
    """Return the data files in a folder, by name; None if this user may not read it: the run may."""
    try:
        return sorted(each for each in folder.iterdir() if is_data(each.name) and each.is_file())
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return None

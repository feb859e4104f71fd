"""The files below a watched folder, wherever it is."""

from collections.abc import Mapping
from typing import Any

from tidegate.spark_jobs.files.scheme import is_local
from tidegate.watcher.cloud import list_cloud
from tidegate.watcher.found import Listing
from tidegate.watcher.local import list_local


def list_folder(folder: str, dimensions: int, options: Mapping[str, Any]) -> Listing:
    """Return the files below a folder.

    Args:
        folder: absolute path or URL.
        dimensions: how many folders are between it and the files.
        options: of the file system's client, by its own names.

    Raises:
        WatchError: the folder cannot be listed, or has too many files.
    """
    if is_local(folder):
        return list_local(folder, dimensions)
    return list_cloud(folder, dimensions, options)

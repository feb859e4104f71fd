"""What a place is, whatever it is called: links, mounts, schemes and slashes give one folder many names.

    a local file or folder     the device and number that the file system gives it
    a place of Hadoop          its path, as the file system resolves it
    any other store            its URL, in one spelling

Two places with one identity are the same. The reverse is not certain for a store without identities, so who
removes files also looks at their names (`reached`).
"""

import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from tidegate.spark_jobs.files.scheme import is_local, scheme_of
from tidegate.spark_jobs.iceberg.catalog.failures import java_failures
from tidegate.spark_jobs.iceberg.catalog.table_files import HADOOP_IO, TableFiles

ONE_STORE = {
    "s3a": "s3",
    "s3n": "s3",
    "abfss": "abfs",
    "wasbs": "wasb",
    "swebhdfs": "hdfs",
    "webhdfs": "hdfs",
}
"""Schemes that name the files of another one."""
KNOWN_PLACES = 10_000
"""How many folders of one search are remembered."""
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://([^/]*))?(/.*)?", re.DOTALL)
_SLASHES = re.compile(r"/+")

Identity = tuple[Any, ...]


class RealPlaces:
    """The identities of the places that one table can reach."""

    def __init__(self, files: TableFiles, io: Any) -> None:
        """Args:
        io: Iceberg's FileIO of the table.
        """
        self._files = files
        self._is_hadoop = str(io.getClass().getName()) == HADOOP_IO
        self.identity = lru_cache(KNOWN_PLACES)(self._identity)

    def spelled(self, place: str) -> str:
        """Return a place in the one spelling that all its names have, as far as its store can tell.

        Raises:
            OSError: the file system failed.
        """
        full = self._qualified(place)
        path = path_on_disk(full)
        if path is not None:
            return os.path.realpath(path)
        return _spelled(self._resolved(full))

    def _identity(self, place: str) -> Identity:
        spelled = self.spelled(place)
        if spelled.startswith("/"):
            try:
                found = Path(spelled).stat()
            except OSError:
                return (spelled,)
            return found.st_dev, found.st_ino
        return (spelled,)

    def _qualified(self, place: str) -> str:
        """Return a place with the scheme and authority that it has by default."""
        if not self._is_hadoop:
            return place
        with java_failures(f"look for {place}"):
            path, system = self._files.hadoop(place)
            return str(system.makeQualified(path).toString())

    def _resolved(self, place: str) -> str:
        """Return where a mounted or linked place is; one that does not exist stays as it is."""
        if not self._is_hadoop:
            return place
        with java_failures(f"look for {place}"):
            path, system = self._files.hadoop(place)
            return str(system.resolvePath(path).toString()) if system.exists(path) else place


def path_on_disk(place: str) -> str | None:
    """Return a place of this machine as a path; None for one that is elsewhere.

    Hadoop and Iceberg write file: URLs with every character as it is.
    """
    if not is_local(place):
        return None
    if scheme_of(place):
        # file:/x, file:///x and file://localhost/x are one file.
        place = re.sub(r"^file:(?://[^/]*)?", "", place, flags=re.IGNORECASE)
    return _SLASHES.sub("/", place)


def folder_of(spelled: str) -> str:
    """Return the folder of a place in the spelling of `RealPlaces`; "" for the root of its store."""
    folder = spelled.rpartition("/")[0]
    return "" if folder.endswith((":", ":/")) else folder


def _spelled(url: str) -> str:
    found = _URL.fullmatch(url)
    if found is None:
        return _SLASHES.sub("/", url).rstrip("/")
    scheme, authority, path = found[1].lower(), (found[2] or "").lower(), found[3] or ""
    return f"{ONE_STORE.get(scheme, scheme)}://{authority}{_SLASHES.sub('/', path).rstrip('/')}"

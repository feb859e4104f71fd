"""The guarantees of a file system, by the scheme of its URLs.

Publishing Parquet tables needs two guarantees: a file is created atomically by one of
two writers, and a folder is moved atomically. Not every store gives them, and a store without
them fails silently. So the guarantees are listed here, and a scheme that is
not listed has none: Parquet tables are refused there, while Iceberg with a catalog
that compares and swaps works. A place without a scheme is a local folder.
"""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import unquote, urlsplit

from tidegate.domain.value import Value

Creation = Literal["link", "rename", "create"]
"""How a file is created atomically, and only if its name is free: a hidden file is linked or
renamed to it without overwriting, or the file is written in place and becomes visible when it is closed."""


class Promises(Value, kw_only=True):
    """The guarantees of a store.

    Attributes:
        creates_by: None for a store where two writers may both believe they have created a file.
        moves_folders: whether a rename moves a folder atomically.
        provided: the Hadoop capability that the guarantees depend on, "" for none; `if_only` describes it.
        package: Maven coordinates of its driver, "" where Spark includes it.
    """

    creates_by: Creation | None = None
    moves_folders: bool = False
    provided: str = ""
    if_only: str = ""
    package: str = ""


_HDFS = Promises(creates_by="rename", moves_folders=True)
_AZURE = Promises(
    creates_by="rename",
    moves_folders=True,
    # The driver queries the account for this capability; without it a rename is not atomic.
    provided="fs.capability.paths.acls",
    if_only="the storage account has a hierarchical namespace",
    package="org.apache.hadoop:hadoop-azure:3.3.4",
)
_S3 = Promises(package="org.apache.hadoop:hadoop-aws:3.3.4")
_UNKNOWN = Promises()

SCHEMES: Mapping[str, Promises] = {
    "file": Promises(creates_by="link", moves_folders=True),
    "hdfs": _HDFS,
    "viewfs": _HDFS,
    "webhdfs": _HDFS,
    "swebhdfs": _HDFS,
    "abfs": _AZURE,
    "abfss": _AZURE,
    "gs": Promises(creates_by="create", package="com.google.cloud.bigdataoss:gcs-connector:hadoop3-2.2.26"),
    # Creating a file overwrites an existing one, and a folder is moved file by file.
    "s3a": _S3,
    "s3": _S3,
    "ofs": _UNKNOWN,
    "o3fs": _UNKNOWN,
    "oss": _UNKNOWN,
    "cosn": _UNKNOWN,
    "wasbs": _UNKNOWN,
}
"""The known schemes."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def scheme_of(place: str) -> str:
    """Return the scheme of a URL in lower case, "" for a path without one."""
    found = _URL.match(place)
    return found[1].lower() if found else ""


def is_local(place: str) -> bool:
    """Return whether a place is reached without Hadoop: a path or a file: URL."""
    return scheme_of(place) in ("", "file")


def local_path(place: str) -> str:
    """Return the path of a local place, which is a path or a file: URL."""
    return unquote(urlsplit(place).path) if scheme_of(place) else place


def promises_of(place: str) -> Promises:
    """Return the guarantees of the file system of a place."""
    return SCHEMES.get(scheme_of(place) or "file", _UNKNOWN)

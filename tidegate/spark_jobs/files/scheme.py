"""What a file system promises, by the scheme of its URLs.

Publishing Parquet tables stands on two promises: a file can be created whole, by one of
two writers, and a folder can be moved whole. Not every store gives them, and one which does
not say so breaks them silently. So what is relied on is listed here, and a scheme that is
not listed promises nothing: Parquet tables are refused there, Iceberg with a catalog
that compares and swaps is not. A place without a scheme is a folder of this machine.
"""

import re
from collections.abc import Mapping
from typing import Literal

from tidegate.domain.value import Value

Creation = Literal["link", "rename", "create"]
"""How a file appears whole or not at all, and only where none is: a hidden file is linked, or
renamed without overwriting, to its name; or what is written shows at its close, unless the name is taken."""


class Promises(Value, kw_only=True):
    """What may be relied on.

    Attributes:
        creates_by: None for a store where two writers may both believe they have created a file.
        moves_folders: whether a rename moves a folder whole or not at all.
        provided: Hadoop's capability without which it promises nothing, "" for none; in words, `if_only`.
        package: Maven coordinates of its driver, "" where Spark brings it along.
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
    # The driver answers this one by asking the account; without it a rename is many.
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
    # A file is created there by overwriting whatever there is, and a folder is moved file by file.
    "s3a": _S3,
    "s3": _S3,
    "ofs": _UNKNOWN,
    "o3fs": _UNKNOWN,
    "oss": _UNKNOWN,
    "cosn": _UNKNOWN,
    "wasbs": _UNKNOWN,
}
"""The schemes that are known."""

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):/")


def scheme_of(place: str) -> str:
    """The scheme of a URL in small letters, "" for a path without one."""
    found = _URL.match(place)
    return found[1].lower() if found else ""


def is_here(place: str) -> bool:
    """Whether a place is reached without Hadoop: a path or a file: URL."""
    return scheme_of(place) in ("", "file")


def promises_of(place: str) -> Promises:
    """What the file system of a place promises."""
    return SCHEMES.get(scheme_of(place) or "file", _UNKNOWN)

"""Sizes: `500MB`, `100GB`, `64MiB`, or a whole number of bytes.

KB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB powers of 1024. A size has one unit and a
whole number. The caller reports the place of a wrong size in the YAML.
"""

import re

from tidegate.domain.error import UserError
from tidegate.domain.wording import shown

MAX_SIZE_BYTES = 10**18 - 1
"""The largest integer that the YAML reader accepts: 18 digits."""

MB = 10**6
GB = 10**9

_UNITS = {
    "KB": 10**3,
    "MB": MB,
    "GB": GB,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = re.compile(r"([0-9]{1,18}) ?([KMGT]i?B)\Z")


class SizeError(UserError, ValueError):
    """A text that is not a size."""


def parse_size(text: str) -> int:
    """Return the number of bytes of a text.

    Raises:
        SizeError: the text is not a size, or is above MAX_SIZE_BYTES.
    """
    found = _SIZE.match(text)
    if found is None:
        raise SizeError(
            f"a size is a whole number with KB, MB, GB, TB, KiB, MiB, GiB or TiB, got {shown(text)}",
            "write for example 500MB, 100GB or 64MiB",
        )
    size = int(found[1]) * _UNITS[found[2]]
    if size > MAX_SIZE_BYTES:
        raise SizeError(
            f"a size is below 1000000TB, got {shown(text)}", "write a smaller size, for example 100GB"
        )
    return size


def size_text(size: int) -> str:
    """Return the shortest exact text of a number of bytes: "100GB", "64MiB", "1234"."""
    for unit in ("TB", "TiB", "GB", "GiB", "MB", "MiB", "KB", "KiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)

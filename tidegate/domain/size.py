"""Sizes: `500MB`, `100GB`, `64MiB`, or a whole number of bytes.

KB, MB, GB and TB are powers of 1000, KiB, MiB, GiB and TiB powers of 1024. One unit at a
time, whole numbers only, as with durations. Pure text in, a number of bytes out; where a size
stands in the YAML is the caller's to report.
"""

import re

from tidegate.domain.error import UserError
from tidegate.domain.wording import shown

MAX_SIZE_BYTES = 10**18 - 1
"""The reader takes integers of 18 digits, and a size is one of them."""

_UNITS = {
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = re.compile(r"([0-9]{1,18}) ?([KMGT]i?B)\Z")


class SizeError(UserError, ValueError):
    """A text that is no size, with a hint at what to write."""


def parse_size(text: str) -> int:
    """The number of bytes that a text names.

    Raises:
        SizeError: for another form, or more than MAX_SIZE_BYTES.
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
            f"a size is below 1000000TB, got {shown(text)}", "give a size that some storage can hold"
        )
    return size


def size_text(size: int) -> str:
    """The shortest text of a number of bytes without loss: "100GB", "64MiB", "1234"."""
    for unit in ("TB", "TiB", "GB", "GiB", "MB", "MiB", "KB", "KiB"):
        if size and size % _UNITS[unit] == 0:
            return f"{size // _UNITS[unit]}{unit}"
    return str(size)

"""The release: the version of the installed distribution."""

from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def release() -> str:
    """Return the version; "" where the source is run without an installation.

    It stays that of the code that this process has begun with, whatever is installed meanwhile.
    """
    try:
        return version("tidegate")
    except PackageNotFoundError:
        return ""

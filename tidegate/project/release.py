"""The release: the version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version


def release() -> str:
    """Return the version; "" where the source is run without an installation."""
    try:
        return version("tidegate")
    except PackageNotFoundError:
        return ""

"""The release: the version of the installed distribution."""

import sys
from functools import cache
from pathlib import Path

METADATA = "tidegate-*.dist-info/METADATA"
FIELD = "Version:"


@cache
def release() -> str:
    """Return the version; "" where the source is run without an installation.

    It stays that of the code that this process has begun with, whatever is installed meanwhile.
    """
    # `importlib.metadata` finds the same file. It loads the modules of e-mail, whose form this file has.
    for folder in map(Path, sys.path):
        for found in folder.glob(METADATA):
            lines = found.read_text(encoding="utf-8").splitlines()
            return next(line.removeprefix(FIELD).strip() for line in lines if line.startswith(FIELD))
    return ""

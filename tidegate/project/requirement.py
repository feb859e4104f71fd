"""What a new project requires: the Tidegate that has made it, from where that was installed.

Pip records where a package came from, if not from an index, beside it: `direct_url.json`, as PEP 610 says.
"""

import json
from collections.abc import Sequence
from importlib.metadata import Distribution, distribution
from typing import Any

NAME = "tidegate"


def requirement(extras: Sequence[str] = (), installed: Distribution | None = None) -> str:
    """Return the line of a requirements file for Tidegate as it is installed.

    Args:
        extras: the extras that the project needs.
        installed: the installed Tidegate; None to find it.
    """
    found = distribution(NAME) if installed is None else installed
    name = f"{NAME}[{','.join(extras)}]" if extras else NAME
    direct = found.read_text("direct_url.json")
    return f"{name}=={found.version}" if direct is None else f"{name} @ {_reference(json.loads(direct))}"


def _reference(direct: dict[str, Any]) -> str:
    """Return the reference of a direct URL to exactly what was installed."""
    url, parts = str(direct["url"]), list[str]()
    vcs, archive = direct.get("vcs_info"), direct.get("archive_info") or {}
    if vcs is not None:
        url = f"{vcs['vcs']}+{url}@{vcs['commit_id']}"
    hashes = archive.get("hashes") or dict([archive["hash"].split("=", 1)] if archive.get("hash") else [])
    parts += [f"{algorithm}={value}" for algorithm, value in sorted(hashes.items())][:1]
    parts += [f"subdirectory={direct['subdirectory']}"] if direct.get("subdirectory") else []
    return f"{url}#{'&'.join(parts)}" if parts else url

"""Where the server of a project answers: it leaves its address in a file, and others ask it there.

The file names the server that began last. A killed server leaves it behind, so an address is asked, never
believed.
"""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tidegate.project.settings.settings import Settings


def run_address(settings: "Settings", run_id: str | None) -> str:
    """Return the address of a run's page; "" without a run or a known UI.

    The UI is that of the `tidegate dev` that runs on the project, which may have another port than the
    settings say; else that of `[dagster] webserver_url`.
    """
    from tidegate.processes.lock import address_in_use

    if not run_id:
        return ""
    ui = address_in_use(settings.project) or settings.webserver_url
    return f"{ui}/runs/{run_id}" if ui else ""


FILE = Path(".tidegate", "server.address")
ASK_SECONDS = 5.0


def address_file(project: Path) -> Path | None:
    """Return the file for the address, in an existing folder; None where it cannot be written."""
    file = project / FILE
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, exist_ok=True)
    return file if os.access(file.parent, os.W_OK) else None


def known_address(project: Path) -> str | None:
    """Return the address that a server of the project has left; None without one."""
    try:
        return (project / FILE).read_text().strip() or None
    except OSError:
        return None


def forget_address(project: Path, address: str) -> None:
    """Remove the file, unless another server has written it since."""
    if known_address(project) == address:
        with suppress(OSError):
            (project / FILE).unlink()


def asked(address: str) -> dict[str, Any] | None:
    """Return what the server says of itself (`/readyz`); None if it does not answer."""
    # HTTP is loaded by who asks: `why` only looks up the address.
    import urllib.error
    import urllib.request

    try:
        with urllib.request.urlopen(f"{address}/readyz", timeout=ASK_SECONDS) as answer:
            return _object(answer.read())
    except urllib.error.HTTPError as refused:
        return _object(refused.read())
    except OSError:
        return None


def _object(body: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None

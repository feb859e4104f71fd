"""The files of the board: styles, scripts, icons, and what `make vendor` brought (tests/vendored.py).

    /board/static/VERSION/frame.css     VERSION is the hash of all files: a browser never asks again

A page of an older release that is still open gets the files of this one, and keeps none of them.
"""

import hashlib
from functools import cache
from importlib.resources import files
from pathlib import PurePosixPath

from fastapi import APIRouter, Response

from tidegate.server.problem import Problem

router = APIRouter(prefix="/board/static", include_in_schema=False)

STYLES = ("fonts.css", "tokens.css", "frame.css", "controls.css", "content.css", "pages.css")
"""The styles of every page, in this order."""

TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
    "": "text/plain; charset=utf-8",
}
"""The types by the ending of a name; a licence has none."""

KEPT = {"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff"}
NOT_KEPT = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}

NOT_FOUND = 404


@cache
def static_files() -> dict[str, bytes]:
    """Return the content of each file, by its path below the folder."""
    folder = files("tidegate.server.board") / "static"
    vendored = {f"vendor/{each.name}": each for each in (folder / "vendor").iterdir()}
    own = {each.name: each for each in folder.iterdir() if each.is_file()}
    return {name: each.read_bytes() for name, each in sorted({**own, **vendored}.items())}


@cache
def version() -> str:
    """Return the hash of all files: another one whenever one of them is another."""
    found = hashlib.sha256()
    for name, content in static_files().items():
        found.update(f"{name} {len(content)}\n".encode() + content)
    return found.hexdigest()[:12]


def asset(name: str) -> str:
    """Return the address of a file.

    Raises:
        KeyError: there is none.
    """
    static_files()[name]
    return f"/board/static/{version()}/{name}"


@router.get("/{of}/{name:path}")
def static(of: str, name: str) -> Response:
    """Return a file."""
    content = static_files().get(name)
    if content is None:
        raise Problem(NOT_FOUND, f"there is no file {name!r:.100}")
    headers = KEPT if of == version() else NOT_KEPT
    return Response(content, headers=headers, media_type=TYPES[PurePosixPath(name).suffix])

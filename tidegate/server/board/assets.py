"""The style, the icon and the script of the board."""

from importlib.resources import files

from fastapi import APIRouter, Response

router = APIRouter(prefix="/board", include_in_schema=False)

KEPT = {"Cache-Control": "max-age=300"}


def _content(name: str) -> bytes:
    return (files("tidegate.server.board") / "templates" / name).read_bytes()


@router.get("/board.css")
def style() -> Response:
    """Return the style of all pages."""
    return Response(_content("board.css"), headers=KEPT, media_type="text/css")


@router.get("/icon.svg")
def icon() -> Response:
    """Return the icon of all pages."""
    return Response(_content("icon.svg"), headers=KEPT, media_type="image/svg+xml")


@router.get("/live.js")
def script() -> Response:
    """Return the script that keeps parts of a page up to date."""
    return Response(_content("live.js"), headers=KEPT, media_type="text/javascript")

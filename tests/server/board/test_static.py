"""The files of the board: what is vendored is what was fetched, and each has its type and is kept."""

import hashlib

import pytest

from tests.server.board.board import HTML
from tests.server.serving import Served, problem
from tests.vendored import FOLDER, hashes
from tidegate.server.board.assets import KEPT, STYLES, asset, static_files, version


def test_what_is_vendored_has_the_hashes_that_are_written_down_and_a_licence():
    found = {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in FOLDER.iterdir()}
    assert found == hashes()
    for name in ("inter", "jetbrains-mono", "dagre"):
        assert (FOLDER / f"{name}-LICENSE").read_text().startswith("Copyright")


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("frame.css", "text/css; charset=utf-8"),
        ("live.js", "text/javascript; charset=utf-8"),
        ("icons.svg", "image/svg+xml"),
        ("vendor/inter.woff2", "font/woff2"),
        ("vendor/dagre-LICENSE", "text/plain; charset=utf-8"),
    ],
)
def test_a_file_has_its_type_and_is_kept(server: Served, name: str, type_: str):
    answer = server.client.get(asset(name))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == type_
    assert answer.headers["cache-control"] == KEPT["Cache-Control"]
    assert answer.content == static_files()[name]


def test_a_page_of_another_release_gets_the_files_of_this_one_and_keeps_none(server: Served):
    answer = server.client.get("/board/static/older/frame.css")
    assert answer.content == static_files()["frame.css"]
    assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize("name", ["none.css", "../page.py", "..%2Fpage.py", "vendor", ""])
def test_nothing_else_is_served(server: Served, name: str):
    problem(server.client.get(f"/board/static/{version()}/{name}"), 404)


def test_pages_allow_styles_scripts_and_fonts_of_the_server_only(server: Served):
    answer = server.client.get("/", headers=HTML)
    policy = dict(
        each.strip().partition(" ")[::2] for each in answer.headers["content-security-policy"].split(";")
    )
    assert policy["default-src"] == "'none'"
    assert {policy[name] for name in ("style-src", "font-src", "script-src", "connect-src")} == {"'self'"}
    for name in (*STYLES, "theme.js", "live.js", "frame.js"):
        assert asset(name) in answer.text


def test_no_style_or_script_names_another_host():
    for name, content in static_files().items():
        if name.endswith((".css", ".js")) and not name.startswith("vendor/"):
            assert b"://" not in content, name

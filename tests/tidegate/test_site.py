"""The site of the documentation: every link leads somewhere, nothing is loaded from another host."""

import json
import re
from pathlib import Path

import pytest

from docs.site import pages
from docs.site.build import build, loaded_from_elsewhere
from tidegate.cli.commands import COMMANDS
from tidegate.compiler.schema import schema_text

pytestmark = pytest.mark.slow  # it builds the whole site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    """The site, and what is wrong with it."""
    folder = tmp_path_factory.mktemp("site")
    return folder / "site", build(folder / "staged", folder / "site")


def text_of(site: tuple[Path, list[str]], page: str) -> str:
    return re.sub(r"<[^>]*>", "", (site[0] / page).read_text("utf-8"))


@pytest.mark.slow
def test_the_site_is_built_without_a_broken_link(site: tuple[Path, list[str]]) -> None:
    assert site[1] == []
    for page in pages.DOCS.rglob("*.md"):
        assert (site[0] / page.relative_to(pages.DOCS).with_suffix(".html")).is_file()


def test_navigation_begins_with_getting_started(site: tuple[Path, list[str]]) -> None:
    home = (site[0] / "index.html").read_text("utf-8")
    linked = re.findall(r'<a href="([a-z-]+)\.html" class="md-nav__link"', home)

    assert linked[0] == "getting-started"


def test_the_reference_has_every_command_key_and_operation(site: tuple[Path, list[str]]) -> None:
    commands = text_of(site, "reference/commands.html")
    assert [name for name in COMMANDS if f"tidegate {name}" not in commands] == []
    assert "tidegate maintenance explain" in commands
    keys = text_of(site, "reference/keys.html")
    schema = json.loads(schema_text())
    wanted = {key for part in schema["$defs"].values() for key in part.get("properties", {})}
    assert sorted(key for key in wanted if key not in keys) == []
    assert "GET /v3/namespaces/{ns}/apps" in text_of(site, "reference/rest-api.html")


def test_a_broken_link_and_a_missing_heading_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    (docs / "images").mkdir(parents=True)
    (docs / "adr").mkdir()
    (docs / "one.md").write_text("# One\n\n[a](two.md) [b](two.md#none) [c](three.md) [d](../four.yaml)\n")
    (docs / "two.md").write_text("# Two\n\n## Some\n")
    (tmp_path / "README.md").write_text("# Home\n\n[one](docs/one.md)\n")
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    monkeypatch.setattr(pages, "DOCS", docs)
    monkeypatch.setattr("docs.site.build.DOCS", docs)

    found = build(tmp_path / "staged", tmp_path / "site")

    assert "docs/one.md: three.md does not exist" in found
    assert "docs/one.md: ../four.yaml does not exist" in found
    assert any("does not contain an anchor '#none'" in each for each in found)
    assert not any("'two.md'" in each and "anchor" not in each for each in found)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.html", '<script src="https://cdn.example/x.js"></script>', True),
        ("a.html", '<link rel="stylesheet" href="//fonts.example/x.css">', True),
        ("a.html", '<img src="http://example.com/x.png">', True),
        ("a.css", "@font-face {src: url(https://fonts.example/x)}", True),
        ("a.html", '<a href="https://example.com">x</a><img src="x.png">', False),
    ],
)
def test_what_another_host_would_have_to_serve_is_found(
    tmp_path: Path, name: str, text: str, found: bool
) -> None:
    (tmp_path / name).write_text(text)

    assert bool(list(loaded_from_elsewhere(tmp_path))) is found

"""The build of the site: the pages are staged, MkDocs renders them, and what is wrong is listed.

MkDocs is strict: a link to a page or a heading that does not exist is an error, and so is a page that is
missing in the navigation. The theme's fonts, which come from another host, are off.
"""

import logging
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.commands.build import build as render
from mkdocs.config import load_config
from mkdocs.exceptions import Abort
from pymdownx.slugs import slugify

from docs.site.pages import DOCS, SOURCES, Pages
from docs.site.reference import commands_page, keys_page, rest_page

NAVIGATION: dict[str, tuple[str, ...]] = {
    "Begin": ("getting-started", "existing-dagster", "import", "concepts", "programs", "sql", "watching"),
    "Recipes": ("recipes",),
    "Language": ("language", "cycles", "scenarios", "rules", "reference/keys", "diagnostics", "reasons"),
    "Operate": (
        "operating",
        "security",
        "environments",
        "board",
        "metrics",
        "outages",
        "troubleshooting",
        "retention",
        "maintenance",
    ),
    "Data": ("exactly-once", "readers", "io-manager", "spark"),
    "Reference": ("reference/commands", "settings", "rest", "reference/rest-api", "dagster"),
    "Inside": ("architecture", "job-states", "proof", "benchmarks", "adr"),
}
"""The pages by section; a page of docs/ that is in none comes after those of the last one."""

LOADING = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src"}
"""The attributes that make a browser load something."""


def build(staged: Path, target: Path) -> list[str]:
    """Build the site, and return what is wrong with it.

    Args:
        staged: an empty folder for the pages as MkDocs reads them.
        target: the folder of the site, which is replaced.
    """
    pages = Pages(staged / "pages")
    pages.stage()
    pages.write(PurePosixPath("reference/commands.md"), commands_page())
    pages.write(PurePosixPath("reference/keys.md"), keys_page())
    pages.write(PurePosixPath("reference/rest-api.md"), rest_page())
    pages.write(PurePosixPath("adr.md"), _decisions())
    warnings = _Warnings()
    logger = logging.getLogger("mkdocs")
    logger.addHandler(warnings)
    try:
        render(_config(staged, target))
    except Abort:
        # MkDocs has logged why.
        return [*pages.broken, *warnings.found]
    finally:
        logger.removeHandler(warnings)
    return [*pages.broken, *warnings.found, *loaded_from_elsewhere(target)]


def loaded_from_elsewhere(target: Path) -> Iterator[str]:
    """Yield what pages and style sheets would load from another host."""
    for page in sorted(target.rglob("*.html")):
        parser = _Loaded()
        parser.feed(page.read_text("utf-8"))
        for url in parser.found:
            yield f"{page.relative_to(target)} loads {url}"
    for sheet in sorted(target.rglob("*.css")):
        text = sheet.read_text("utf-8")
        for begin in ("url(http", "url(//", 'url("http', "url('http", "@import"):
            if begin in text:
                yield f"{sheet.relative_to(target)} has {begin}"


class _Loaded(HTMLParser):
    """Collects the addresses on other hosts that a page loads; links that people follow are not among them."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at one tag."""
        given = dict(attrs)
        url = given.get(LOADING.get(tag, "")) or ""
        if url.startswith(("http:", "https:", "//")) and given.get("rel") != "canonical":
            self.found.append(url)


class _Warnings(logging.Handler):
    """Collects what MkDocs warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one warning."""
        self.found.append(record.getMessage())


def _config(staged: Path, target: Path) -> Any:
    # MkDocs reads a file in any case.
    file = staged / "mkdocs.yml"
    file.write_text("site_name: Tidegate\n", "utf-8")
    return load_config(
        config_file=str(file),
        site_name="Tidegate",
        docs_dir=str(staged / "pages"),
        site_dir=str(target),
        nav=_navigation(),
        not_in_nav=f"{SOURCES}/\nadr/\n",
        use_directory_urls=False,
        validation={
            "nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
            "links": {
                "not_found": "warn",
                "anchors": "warn",
                "absolute_links": "warn",
                "unrecognized_links": "warn",
            },
        },
        theme={
            "name": "material",
            "font": False,
            "features": [
                "content.code.copy",
                "navigation.sections",
                "navigation.top",
                "search.suggest",
                "toc.follow",
            ],
            "palette": [
                {"media": "(prefers-color-scheme: light)", "scheme": "default"},
                {"media": "(prefers-color-scheme: dark)", "scheme": "slate"},
            ],
        },
        extra={"generator": False},
        plugins=["search"],
        markdown_extensions=[
            "tables",
            "md_in_html",
            {"toc": {"slugify": slugify(case="lower"), "permalink": True}},
            "pymdownx.highlight",
            "pymdownx.superfences",
        ],
    )


def _navigation() -> list[Any]:
    known = {page for pages in NAVIGATION.values() for page in pages}
    exist = {file.stem for file in DOCS.glob("*.md")} | {page for page in known if "/" in page} | {"adr"}
    sections: list[Any] = [{"Tidegate": "index.md"}]
    for section, pages in NAVIGATION.items():
        sections.append({section: [f"{page}.md" for page in pages if page in exist]})
        if "recipes" in pages:
            sections[-1][section] += [
                f"recipes/{file.name}" for file in sorted((DOCS / "recipes").glob("*.md"))
            ]
    sections[-1]["Inside"] += [f"{page}.md" for page in sorted(exist - known)]
    return sections


def _decisions() -> str:
    """Return the page of the decision records."""
    lines = ["# Decisions", "", "Why it is as it is, one page for each decision.", ""]
    for file in sorted((DOCS / "adr").glob("*.md")):
        title = file.read_text("utf-8").splitlines()[0].removeprefix("# ")
        lines.append(f"- [{title}](adr/{file.name})")
    return "\n".join(lines) + "\n"

"""Rules on links between pages: the file exists, and so does the heading."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.tidy.finding import Finding

LINK = re.compile(r"\]\((?!\w+://)([^)\s]+)\)")
FENCED = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def check_links(root: Path, page: str) -> Iterator[Finding]:
    """Relative links of a page that lead nowhere.

    Args:
        root: the project's folder.
        page: path of the page from there.
    """
    text = without_code((root / page).read_text("utf-8"))
    for link in LINK.finditer(text):
        path, _, anchor = link.group(1).partition("#")
        target = (root / page).parent / path if path else root / page
        line = text.count("\n", 0, link.start()) + 1
        if not target.exists():
            yield Finding(path=page, line=line, message=f"{path} does not exist")
        elif anchor and anchor not in anchors(target.read_text("utf-8")):
            yield Finding(path=page, line=line, message=f"{link.group(1)}: no such heading")


def anchors(text: str) -> frozenset[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    return frozenset(
        re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        for heading in HEADING.findall(without_code(text))
    )


def without_code(text: str) -> str:
    """The text with its fenced blocks emptied and all line numbers kept."""
    return FENCED.sub(lambda block: "\n" * block.group().count("\n"), text)

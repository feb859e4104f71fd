"""The pages as MkDocs reads them: the files of docs/, the README as the first one, and what they link to.

A link out of docs/, to a YAML file or a folder of the repository, becomes a link to a page with its text.
"""

import os
import re
import shutil
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

LINK = re.compile(r"(?<!!)\]\(([^)#\s:]+)(#[^)\s]*)?\)")
"""A link to a file; those to other hosts have a colon."""

RECIPES = "recipes"
APP_BLOCK = re.compile(r"^```yaml\napp: .*?^```$", re.MULTILINE | re.DOTALL)
FOLDED = r"<details markdown><summary>The app, with its scenario</summary>\n\n\g<0>\n\n</details>"
"""A recipe shows what it is for first, and its app where a reader unfolds it."""

SOURCES = "source"
"""The folder of the site with the files of the repository that pages link to."""

FENCES = {".yaml": "yaml", ".py": "python", ".toml": "toml"}


class Pages:
    """The staged pages.

    Attributes:
        broken: links that lead nowhere.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shown: set[PurePosixPath] = set()
        self.broken: list[str] = []

    def stage(self) -> None:
        """Write all pages, and those of the files that they link to."""
        shutil.copytree(DOCS / "images", self._folder / "images")
        for file in sorted(DOCS.rglob("*.md")):
            self._page(file, PurePosixPath(file.relative_to(DOCS).as_posix()))
        self._page(ROOT / "README.md", PurePosixPath("index.md"))

    def _page(self, file: Path, place: PurePosixPath) -> None:
        text = file.read_text("utf-8")
        if file.parent == ROOT:
            text = text.replace("](docs/images/", "](images/")
        if file.parent.name == RECIPES:
            text = APP_BLOCK.sub(FOLDED, text)
        linked = LINK.sub(lambda found: self._link(found, file, place), text)
        self.write(place, linked)

    def _link(self, found: re.Match[str], file: Path, place: PurePosixPath) -> str:
        target, anchor = found[1], found[2] or ""
        if target.startswith("images/"):
            return found[0]
        path = Path(os.path.normpath(file.parent / target))
        if not path.exists() or not path.is_relative_to(ROOT):
            self.broken.append(f"{file.relative_to(ROOT)}: {target} does not exist")
            return found[0]
        to = self._place_of(path)
        return f"]({os.path.relpath(to, place.parent)}{anchor})"

    def _place_of(self, path: Path) -> PurePosixPath:
        """Return the place of a file in the site; what is not a page of docs/ gets one."""
        if path == ROOT / "README.md":
            return PurePosixPath("index.md")
        if path.is_dir() and (path / "README.md").is_file():
            path = path / "README.md"
        if path.is_relative_to(DOCS) and path.suffix == ".md":
            return PurePosixPath(path.relative_to(DOCS).as_posix())
        if path.is_dir() and path == DOCS / "adr":
            return PurePosixPath("adr.md")
        name = path.relative_to(ROOT).as_posix()
        place = PurePosixPath(SOURCES) / (name if path.suffix == ".md" else f"{name}.md")
        if place not in self._shown:
            self._shown.add(place)
            self._show(path, place)
        return place

    def _show(self, path: Path, place: PurePosixPath) -> None:
        if path.suffix == ".md":
            self._page(path, place)
        elif path.is_dir():
            entries = sorted(each for each in path.iterdir() if each.suffix in FENCES or each.is_dir())
            lines = [
                f"- [{each.name}]({os.path.relpath(self._place_of(each), place.parent)})"
                for each in entries
                if each.name != "__pycache__"
            ]
            self.write(place, f"# {path.relative_to(ROOT)}\n\n" + "\n".join(lines) + "\n")
        else:
            text = path.read_text("utf-8").rstrip()
            # Longer than any fence in the text.
            fence = "`" * 6
            kind = FENCES.get(path.suffix, "text")
            self.write(place, f"# {path.relative_to(ROOT)}\n\n{fence}{kind}\n{text}\n{fence}\n")

    def write(self, place: PurePosixPath, text: str) -> None:
        """Write a page."""
        file = self._folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")

"""Applies a unified diff to a folder, by its text and not by its line numbers.

Code above a place may grow without harm; code at the place may not: what is to be replaced must
be there, exactly once.
"""

from pathlib import Path


class DoesNotApply(Exception):
    """The text that the patch replaces is not there, or more than once."""


def apply_patch(patch: str, folder: Path) -> None:
    """Change the files of a folder.

    Raises:
        DoesNotApply: a place of the patch was not found.
    """
    path: Path | None = None
    before: list[str] = []
    after: list[str] = []
    for line in [*patch.splitlines(), "@@"]:
        if line.startswith(("--- ", "#")):
            continue
        if line.startswith(("@@", "+++ ")):
            if path is not None and (before or after):
                _replace(path, before, after)
            before, after = [], []
            if line.startswith("+++ "):
                path = folder / line[4:].strip().removeprefix("b/")
        elif line.startswith("-"):
            before.append(line[1:])
        elif line.startswith("+"):
            after.append(line[1:])
        else:
            before.append(line[1:])
            after.append(line[1:])


def _replace(path: Path, before: list[str], after: list[str]) -> None:
    text = f"\n{path.read_text()}"
    old, new = ("".join(f"\n{line}" for line in lines) for lines in (before, after))
    if text.count(f"{old}\n") != 1:
        raise DoesNotApply(f"{path.name} has it {text.count(old)} times:{old}")
    path.write_text(text.replace(f"{old}\n", f"{new}\n")[1:])

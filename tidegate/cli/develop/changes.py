"""The files that `tidegate dev` deploys again when one is saved: YAML, its rows, and the deployed queries."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from time import sleep

CHECK_MILLISECONDS = 1000
"""Interval of the check that the processes are alive, while no file changes."""


def changes(folder: Path, queries: Callable[[], tuple[Path, ...]] = tuple) -> Iterator[bool]:
    """Yield True for each change of YAML files below a folder, and of the files of rows that they name.

    Yields False every second without a change, or without the folder, which may come or come back. Rows and
    queries may be elsewhere in the project, so they are looked at.

    Args:
        queries: returns the files of the queries that are deployed.
    """
    is_new = False
    while True:
        if folder.exists():
            if is_new:
                yield True
            yield from _changes_below(folder, queries)
        else:
            sleep(CHECK_MILLISECONDS / 1000)
            yield False
        is_new = True


def _changes_below(folder: Path, queries: Callable[[], tuple[Path, ...]]) -> Iterator[bool]:
    """Yield the same as long as the folder is there."""
    from watchfiles import watch

    from tidegate.project.yaml_files import SUFFIXES

    rows = (*_rows(folder), *queries())
    seen = _stamps(rows)
    for found in watch(folder, yield_on_timeout=True, rust_timeout=CHECK_MILLISECONDS):
        if found:
            rows = (*_rows(folder), *queries())
        now = _stamps(rows)
        changed = now != seen or any(Path(path).suffix.lower() in SUFFIXES for _, path in found)
        yield changed
        if changed:
            # With the queries of the deployment that followed; what was saved meanwhile is a change.
            rows = (*rows, *(file for file in queries() if file not in now))
        seen = {**_stamps(rows), **now}
        if not folder.exists():
            if not changed:
                yield True
            return


def _rows(folder: Path) -> tuple[Path, ...]:
    from tidegate.project.named_files import rows_named
    from tidegate.project.yaml_files import read_files

    return tuple(rows_named(read_files([folder]).contents))


def _stamps(files: tuple[Path, ...]) -> dict[Path, tuple[int, int, int] | None]:
    """Return when and how each file was written last: two equal stamps are one content."""
    found: dict[Path, tuple[int, int, int] | None] = dict.fromkeys(files)
    for file in files:
        with suppress(OSError):
            status = file.stat()
            found[file] = (status.st_mtime_ns, status.st_size, status.st_ino)
    return found

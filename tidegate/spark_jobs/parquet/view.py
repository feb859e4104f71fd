"""The view of a version, for readers that do not know the version log: Spark, pyarrow, DuckDB, a shell.

    <root>/_views/00000000000000000007-<commit>/2013-12-22_JFK-<digest>.parquet    hard links
    <root>/current ─► _views/00000000000000000007-<commit>

A view is one flat folder with a link to every data file of a version, and is never changed. The files have
the partition columns as strings, so a reader gets the right columns without folders such as `day=…`.
Everything else in the dataset's folder begins with an underscore, which such readers pass over.

Only a local disk or a shared mount has views (`FileSystem.local_path`); elsewhere the newest version file is
the list of folders to read (`tidegate.read`). A view costs one link for each file of the table, so it is
made from the view before: no folder of an unchanged partition is listed again.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tidegate.spark_jobs.datasets.dataset_ref import commit_folder
from tidegate.spark_jobs.files.filesystem import FileSystem, is_data
from tidegate.spark_jobs.files.links import add_links, create_linked, link_target, switch_link
from tidegate.spark_jobs.parquet.version_log import NUMBER_DIGITS, TableVersion, head

VIEWS_FOLDER = "_views"
CURRENT = "current"
"""The link to the view of the newest version: the place that is documented for other readers."""
DIGEST_DIGITS = 16
KEY_CHARACTERS = 80
SWITCH_TRIES = 1000
"""How many times in a row another publish may be faster."""

_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]+")
_VIEW = re.compile(rf"\.?([0-9]{{{NUMBER_DIGITS}}})-.+", re.DOTALL)
_FILE = re.compile(rf".*-([0-9a-f]{{{DIGEST_DIGITS}}})-[0-9]+\.parquet")


def current_folder(root: str) -> str:
    """Return the place that other readers read."""
    return f"{root}/{CURRENT}"


def view_name(version: TableVersion) -> str:
    """Return the name of a version's view. With the commit, since a restored log may use a number again."""
    return f"{version.number:0{NUMBER_DIGITS}d}-{commit_folder(version.commit)}"


def view_number(name: str) -> int | None:
    """Return the version of a view, whole or half-made; None for another name."""
    found = _VIEW.fullmatch(name)
    return int(found[1]) if found else None


def shown_view(files: FileSystem, root: str) -> str | None:
    """Return the name of the view that other readers see; None for none."""
    place = files.local_path(root)
    return link_target(place / CURRENT) if place else None


def show_newest(files: FileSystem, root: str, *, repair: bool = False) -> bool:
    """Switch other readers to the newest version.

    Of two processes that do this at once, the one with the older version may come last. Each looks again
    after it has switched, so the newest version is what remains.

    Args:
        repair: also create links again that are lost in the view.

    Returns:
        Whether the link was switched, or a view was repaired; never where there are no links.

    Raises:
        OSError: a file of the version does not exist, or other publishes were faster `SWITCH_TRIES` times.
    """
    place = files.local_path(root)
    if place is None:
        return False
    for tries in range(SWITCH_TRIES):
        shown, now = link_target(place / CURRENT), head(files, root)
        if not now.is_published:
            return tries > 0
        if shown == view_name(now):
            return (repair and _repair(place, now)) or tries > 0
        try:
            view = place / VIEWS_FOLDER / view_name(now)
            create_linked(view, dict(_links(place, now, shown)))
            _remove_copy(files, place / CURRENT)
            switch_link(place / CURRENT, view)
        except FileNotFoundError:
            # A newer version may have been published meanwhile, and this one pruned.
            if head(files, root).number == now.number:
                raise
    raise OSError(f"{root}: other publishes were faster {SWITCH_TRIES} times in a row; try again")


def stale(files: FileSystem, root: str) -> str | None:
    """Return why other readers do not see the newest version; None when they do, or never saw any."""
    place = files.local_path(root)
    if place is None or not (place / VIEWS_FOLDER).exists():
        return None
    shown, now = link_target(place / CURRENT), head(files, root)
    if shown is None:
        return f"{place / CURRENT} does not lead to a version, so readers of it see nothing"
    if shown != view_name(now):
        return f"{place / CURRENT} leads to {shown}, but the newest version is {view_name(now)}"
    view, count = place / VIEWS_FOLDER / shown, sum(entry.files for entry in now.partitions.values())
    whole = [file for file in view.iterdir() if _FILE.fullmatch(file.name) and file.exists()]
    if len(whole) < count:
        return (
            f"{view} has {len(whole)} of the {count} files of the version, so readers of {CURRENT} see less"
        )
    return None


def prune_views(files: FileSystem, root: str, oldest: int) -> None:
    """Remove the views of versions before `oldest`, and what builders that died have left of them."""
    place = files.local_path(root)
    if place is None:
        return
    shown = link_target(place / CURRENT)
    for entry in files.list(f"{root}/{VIEWS_FOLDER}"):
        number = view_number(entry.name)
        if number is not None and number < oldest and entry.name != shown:
            files.delete(f"{root}/{VIEWS_FOLDER}/{entry.name}")


def _links(place: Path, version: TableVersion, shown: str | None) -> Iterator[tuple[str, str]]:
    """Yield name and file of each link in the view of a version."""
    before = _files_by_folder(f"{place}/{VIEWS_FOLDER}/{shown}") if shown else {}
    for key, entry in version.partitions.items():
        count, name = 0, _NOT_PLAIN.sub("_", key)[:KEY_CHARACTERS].strip("_.-") or "part"
        for folder in entry.folders:
            digest = hashlib.sha256(folder.encode()).hexdigest()[:DIGEST_DIGITS]
            found = before.get(digest) or _data_files(f"{place}/{folder}")
            count += len(found)
            for number, file in enumerate(found):
                yield f"{name}-{digest}-{number}.parquet", file
        if count != entry.files:
            raise OSError(
                f"{place}: partition {key!r} of version {version.number} has {entry.files} files, and "
                f"{count} exist; restore them or compute the partition again"
            )


def _repair(place: Path, version: TableVersion) -> bool:
    """Create the lost links of a view again, and return whether there were any."""
    links = dict(_links(place, version, None))
    return add_links(place / VIEWS_FOLDER / view_name(version), links)


def _remove_copy(files: FileSystem, current: Path) -> None:
    """Remove the folder that a tool has made of the link when it copied the warehouse and followed links."""
    is_copy = current.is_dir() and not current.is_symlink()
    if is_copy and all(_FILE.fullmatch(entry.name) for entry in current.iterdir()):
        files.delete(str(current))


def _files_by_folder(view: str) -> dict[str, list[str]]:
    """Return the files of a view, by the digest of their data folder."""
    found: dict[str, list[str]] = {}
    for name in _names(view):
        match = _FILE.fullmatch(name)
        if match:
            found.setdefault(match[1], []).append(f"{view}/{name}")
    return found


def _data_files(folder: str) -> list[str]:
    return [f"{folder}/{name}" for name in _names(folder) if is_data(name)]


def _names(folder: str) -> list[str]:
    with os.scandir(folder) as found:
        return sorted(entry.name for entry in found)

"""An index of folders that finds one that equals, contains or is inside a given folder. Pure."""

from typing import Generic, TypeVar

T = TypeVar("T")


class FolderIndex(Generic[T]):
    """Folders, each with the first value that was added for it."""

    def __init__(self) -> None:
        self._ends: dict[str, T] = {}
        self._passed: dict[str, T] = {}

    def add(self, folder: str, value: T) -> None:
        """Add a folder; a second value of the same folder is ignored."""
        within = folder_and_parents(folder)
        self._ends.setdefault(within[-1], value)
        for each in within:
            self._passed.setdefault(each, value)

    def find(self, folder: str) -> T | None:
        """Return the value of a folder that equals, contains or is inside this one."""
        within = folder_and_parents(folder)
        around = next((self._ends[each] for each in within if each in self._ends), None)
        return around if around is not None else self._passed.get(within[-1])


def folder_and_parents(path: str) -> list[str]:
    """Return a folder and all around it, the outermost first."""
    # In some file systems names that differ only in case are equal.
    parts = path.casefold().split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]


def plain_folder(folder: str) -> str:
    """Return a local folder as a path, and a URL as it is, without a slash at its end."""
    local = folder.removeprefix("file:")
    return folder.rstrip("/") if local == folder else f"/{local.strip('/')}"

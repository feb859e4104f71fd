"""What one look at the watched folders sees, for people; nothing is reported or noted."""

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.duration import duration_text
from tidegate.domain.error import UserError
from tidegate.domain.value import Value
from tidegate.scheduler.intake.watched import Watched, known_folder, size_of
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.records.watched import WATCHED_PARTITIONS, Files, changed
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.watcher.partitions import FoundPartition, begins_later, waits_for
from tidegate.watcher.watching import Site, watched_of


class NewPartition(Value, kw_only=True):
    """A partition with files that were not reported.

    Attributes:
        files: how many are new or were written again.
        bytes: of these files.
        waits_for: what must happen before it is reported.
    """

    key: str
    files: int
    bytes: int
    waits_for: str


class SeenFolder(Value, kw_only=True):
    """A watched folder.

    Attributes:
        reported: partitions whose files are known: they were reported, or ignored at the first look.
        new: by key.
        notes: what was left out, and why.
        problem: why it cannot be looked at; "" if it can.
    """

    dataset: str
    folder: str
    reported: int = 0
    new: tuple[NewPartition, ...] = ()
    notes: tuple[str, ...] = ()
    problem: str = ""
    remedy: str = ""


def seen_folders(reader: EngineReader, site: Site, dataset: str | None = None) -> list[SeenFolder]:
    """Look at the watched folders of a project.

    Args:
        dataset: looks at this one only: "app/dataset", or the name alone.
    """
    return [
        _seen(reader, site, watched)
        for watched in _watched(reader, site)
        if dataset in (None, watched.id, watched.dataset.name)
    ]


def watched_names(reader: EngineReader, site: Site) -> list[str]:
    """Return the watched datasets of a project, "app/dataset"."""
    return [watched.id for watched in _watched(reader, site)]


def _watched(reader: EngineReader, site: Site) -> list[Watched]:
    return watched_of(
        site, [each.app for each in reader.records(APPS) if each.project in (NO_PROJECT, site.project)]
    )


def _seen(reader: EngineReader, site: Site, watched: Watched) -> SeenFolder:
    try:
        found, notes = site.place.partitions(watched)
    except UserError as error:
        return SeenFolder(dataset=watched.id, folder=watched.folder, problem=error.message, remedy=error.hint)
    folder = known_folder(reader, watched)
    rows = reader.records(WATCHED_PARTITIONS, dataset=watched.id) if folder is not None else ()
    known = {each.key: each.files for each in rows}
    last = f"{duration_text(watched.watch.settle)} without a change"
    if watched.watch.marker:
        last = "the next look"
    if (folder is None or folder.since is None) and watched.watch.existing == "ignore":
        last = "nothing: the first look ignores it"
    scheme, now = watched.dataset.partitions, site.clock()
    later = {key for key, each in found.items() if begins_later(each, scheme, now)}
    new = [
        _new(watched, each, known.get(key, {}), "the begin of its period" if key in later else last)
        for key, each in sorted(found.items())
    ]
    return SeenFolder(
        dataset=watched.id,
        folder=watched.folder,
        reported=len(known),
        new=tuple(each for each in new if each is not None),
        notes=tuple(notes),
    )


def _new(watched: Watched, partition: FoundPartition, known: Files, last: str) -> NewPartition | None:
    """Return what is new of a partition; None if nothing is.

    Args:
        last: what it waits for when its files are there.
    """
    waits = waits_for(partition, known, watched.watch)
    if waits is None:
        return None
    files = changed(partition.files, known)
    size = size_of(files, watched.watch)
    return NewPartition(key=partition.key, files=len(files), bytes=size, waits_for=waits or last)

"""The looks at all watched folders of a project: each in a thread of its own, so that none waits for another.

    `poke` (each tick or loop) ──interval is over──► a thread for each folder that is not being looked at

A folder whose file system does not answer holds its own thread and no other; `poke` never waits.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from tidegate.domain.model import App
from tidegate.scheduler.intake.watched import Watched, forget_gone
from tidegate.scheduler.store.protocol import Store
from tidegate.spark_jobs.datasets.dataset_ref import Warehouse, dataset_ref
from tidegate.watcher.look import Log, Look, Place

SHARE = 0.1
"""The most of the time that looks at one folder take: a large folder is looked at less often."""

LOOKS_AT_ONCE = 16
"""Threads of a process."""

SAID_MAX = 1_000
"""Lines for the log between two ticks."""

SLOW_SECONDS = 120.0
"""From when on a look that has not ended is a problem."""


@dataclass(frozen=True, slots=True)
class Site:
    """A project whose folders are watched.

    Attributes:
        every: seconds from one look at a folder to the next.
    """

    project: str
    warehouse: Warehouse
    place: Place
    every: float
    clock: Callable[[], datetime]


@dataclass(slots=True)
class _Folder:
    """The looks at a folder.

    Attributes:
        due: when the next look may begin; seconds of a monotonic clock.
        began: when the look began that has not ended; None between two looks.
        slow: it is noted as a problem.
    """

    look: Look
    due: float = 0.0
    began: float | None = None
    slow: bool = False


class Watching:
    """The watched folders of a project, in one process.

    Args:
        seconds: a monotonic clock.
    """

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._folders: dict[str, _Folder] = {}
        self._said: deque[str] = deque(maxlen=SAID_MAX)
        self._stale = False
        self._lock = threading.Lock()

    def poke(self, store: Store, site: Site, watched: Iterable[Watched], log: Log) -> None:
        """Begin the looks that are due. Returns at once; looks of before that have not ended go on.

        Args:
            watched: what is deployed, see `watched_of`.
        """
        with self._lock:
            self._update(site, watched)
            if self._stale:
                with store.transaction() as transaction:
                    forget_gone(transaction, site.project)
                self._stale = False
            # A thread may outlive the tick whose log it would write to.
            while self._said:
                log(self._said.popleft())
            now = self._seconds()
            running = sum(1 for each in self._folders.values() if each.began is not None)
            for folder in self._folders.values():
                if folder.began is not None:
                    if not folder.slow and now - folder.began >= SLOW_SECONDS:
                        folder.slow = True
                        folder.look.note_slow(store, SLOW_SECONDS)
                elif folder.due <= now and running < LOOKS_AT_ONCE:
                    folder.began, running = now, running + 1
                    run = threading.Thread(
                        target=self._run, args=(store, site, folder), name="tidegate-watch", daemon=True
                    )
                    run.start()

    def _update(self, site: Site, watched: Iterable[Watched]) -> None:
        wanted = {each.id: each for each in watched}
        kept = {id: each for id, each in self._folders.items() if wanted.get(id) == each.look.watched}
        new = [each for id, each in wanted.items() if id not in kept]
        if new or len(kept) < len(self._folders):
            self._stale = True
            looks = [Look(each, site.place, self._said.append, site.clock, self._seconds) for each in new]
            self._folders = kept | {look.watched.id: _Folder(look) for look in looks}

    def _run(self, store: Store, site: Site, folder: _Folder) -> None:
        began = self._seconds()
        try:
            folder.look.run(store)
        finally:
            ended = self._seconds()
            folder.due = began + max(site.every, (ended - began) / SHARE)
            folder.began, folder.slow = None, False


def watched_of(site: Site, apps: Iterable[App]) -> list[Watched]:
    """Return the watched datasets of apps, by name."""
    found = [
        Watched(
            project=site.project,
            app=app.name,
            dataset=dataset,
            folder=dataset_ref(app.name, dataset).root(site.warehouse),
        )
        for app in apps
        for dataset in app.datasets.values()
        if dataset.watch is not None and dataset.path is not None
    ]
    return sorted(found, key=lambda each: each.id)

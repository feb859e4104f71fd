"""Questions to code servers, and locations that are loaded again: in threads, since a server may hang.

One location gets one question at a time. A launch waits `ANSWER_SECONDS` for its answer and is postponed
alone after that; it finds the answer at its next offer.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeout
from threading import Thread
from typing import Any, TypeVar

from tidegate.dagster_defs.existing.creation import LocationAway
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation
from tidegate.dagster_defs.internals.workspace import IWorkspaceProcessContext, WorkspaceProcessContext

ASKING_AT_ONCE = 8
"""Locations whose code servers may be asked at once; each gets one question at a time."""

ANSWER_SECONDS = 3.0
"""How long the host's thread waits for an answer of a code server, which may hang."""

LOAD_AGAIN_SECONDS = 2.0
"""From one try to load a location to the next."""

T = TypeVar("T")


class Unanswered(LocationAway):
    """A code server has not answered a question that one launch needs."""


class Questions:
    """The questions that are under way, by location."""

    def __init__(self) -> None:
        self._asking = ThreadPoolExecutor(ASKING_AT_ONCE, thread_name_prefix="code server")
        self._under_way: dict[str, tuple[object, Future[Any]]] = {}

    def ask(self, location: CodeLocation, key: object, question: Callable[[], T]) -> T:
        """Ask a code server in another thread; one that hangs delays no other launch.

        Args:
            key: what is asked; a question of the same key that is under way is not asked again.

        Raises:
            Unanswered: it has not answered this question, or one before.
        """
        asked = self._under_way.get(location.name)
        if asked is not None and asked[0] != (location, key):
            if not asked[1].done():
                raise Unanswered(f"the code server of {location.name} has not answered a question before")
            asked = None
        if asked is None:
            asked = self._under_way[location.name] = (location, key), self._asking.submit(question)
        try:
            found: T = asked[1].result(ANSWER_SECONDS)
        except FutureTimeout as error:
            if asked[1].done():
                raise
            text = f"the code server of {location.name} has not answered within {ANSWER_SECONDS:.0f} s"
            raise Unanswered(text) from error
        finally:
            if asked[1].done():
                self._under_way.pop(location.name, None)
        return found


class Loading:
    """Loads locations of a workspace again, in a thread of its own: a server may hang."""

    def __init__(self, workspace: IWorkspaceProcessContext) -> None:
        self._workspace = workspace
        self._thread: Thread | None = None

    def again(self, names: Sequence[str]) -> None:
        """Begin to load some locations again, unless that is under way."""
        if not names or (self._thread is not None and self._thread.is_alive()):
            return
        self._thread = Thread(target=self._load, args=(names,), name="loading", daemon=True)
        self._thread.start()

    def _load(self, names: Sequence[str]) -> None:
        if isinstance(self._workspace, WorkspaceProcessContext):
            for name in names:
                self._workspace.refresh_code_location(name)
        time.sleep(LOAD_AGAIN_SECONDS)

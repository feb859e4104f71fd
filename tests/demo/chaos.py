"""Chaos for the demo: its processes are killed at random, half of them while something is published.

A victim is the daemon, the code server, the process of a run, or the JVM of a run; once, everything dies at
the same moment, as by a power cut. The daemon and the code server are started again, as `tidegate dev` or a
service manager does it; nothing else is helped. A job may die as often as the default of `retries` allows
(twice), so no run is killed whose job has died twice.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random

from tests.effort import longer, much
from tests.environments import having
from tests.tally import reach
from tidegate.demo.feed import Chunk
from tidegate.demo.run import Demo
from tidegate.scheduler.model.job import FINISHED, JobState
from tidegate.scheduler.store.commits.steps import SqlCommitStepStore
from tidegate.scheduler.store.sql.store import SqlStore

KILLS = much(3)
PAUSE_SECONDS = (2, 8)
"""Between two kills, by chance."""

LANDING_SECONDS = 5.0
"""From one delivery to the next: files land while processes die."""

AIM_SECONDS = longer(30)
"""How long a kill that is aimed at a publish waits for one, before it strikes at what there is."""

LOOK_SECONDS = 0.05
POLL_SECONDS = 0.5
DEATHS = 2
"""After so many the engine does not start a job again."""

RUN, JVM = b"tidegate.launcher.server", b"java"
"""Words in the commands of runs and of the run server that forked them, and of their JVMs."""


class Chaos:
    """Kills processes of a demo at random; called at every poll of the demo.

    Attributes:
        killed: what was killed, and how often.
    """

    def __init__(self, seed: int) -> None:
        self._chance = Random(seed)
        self._next: float | None = None
        self.killed: Counter[str] = Counter()

    def __call__(self, demo: Demo) -> None:
        if self._next is None:
            if any(job.state is JobState.LAUNCHED for job in demo.jobs()):
                self._plan()
            return
        if self.killed.total() >= KILLS or time.monotonic() < self._next or not _may_die(demo):
            return
        if self.killed.total() % 2 == 0 and _publishes(demo):
            reach("kills during a publish")
        # A job may have begun its last attempt meanwhile.
        if _may_die(demo):
            self._strike(demo)
            self._plan()

    def land(self, demo: Demo, chunks: Sequence[Chunk]) -> None:
        """Land deliveries over a time, and go on killing between them."""
        for chunk in chunks:
            demo.land([chunk])
            until = time.monotonic() + LANDING_SECONDS
            while time.monotonic() < until:
                self(demo)
                time.sleep(POLL_SECONDS)

    def _plan(self) -> None:
        self._next = time.monotonic() + self._chance.uniform(*PAUSE_SECONDS)

    def _strike(self, demo: Demo) -> None:
        strikes: dict[str, Callable[[Demo], bool]] = {
            "everything": _kill_everything,
            "daemon": _kill_daemon,
            "host": _kill_host,
            "code server": _kill_code_server,
            "run": lambda demo: _kill_one(demo, RUN, self._chance),
            "JVM": lambda demo: _kill_one(demo, JVM, self._chance),
        }
        names = list(strikes)
        # Everything at once is the third kill; before and after it, one by one.
        name = names[0] if self.killed.total() == 2 else self._chance.choice(names[1:])
        if strikes[name](demo):
            self.killed[name] += 1
            reach("real processes killed")


def _may_die(demo: Demo) -> bool:
    """Whether a run is under way, and each job can still be started again: a run may have begun unclaimed."""
    unfinished = [job for job in demo.jobs() if job.state not in FINISHED]
    launched = any(job.state is JobState.LAUNCHED for job in unfinished)
    return launched and all(job.attempt <= DEATHS for job in unfinished)


def _publishes(demo: Demo) -> bool:
    """Wait until a commit sequence is unfinished, for `AIM_SECONDS` at most."""
    assert isinstance(demo.store, SqlStore)
    commits = SqlCommitStepStore(demo.store.engine)
    until = time.monotonic() + AIM_SECONDS
    while time.monotonic() < until:
        if commits.list_unfinished():
            return True
        time.sleep(LOOK_SECONDS)
    return False


def _kill_daemon(demo: Demo) -> bool:
    demo.daemon.kill()
    demo.daemon = demo.processes.start_daemon()
    return True


def _kill_host(demo: Demo) -> bool:
    demo.host.kill()
    demo.host = demo.processes.start_host()
    return True


def _kill_code_server(demo: Demo) -> bool:
    """The code server with all its children; the runs are not among them."""
    demo.code_server.signal_group(signal.SIGKILL)
    demo.code_server.wait(10)
    demo.code_server = demo.processes.start_code_server()
    return True


def _kill_everything(demo: Demo) -> bool:
    for process in (demo.host, demo.daemon, demo.code_server):
        process.signal_group(signal.SIGKILL)
    for pid in _processes(demo, JVM) + _processes(demo, RUN):
        _kill(pid)
    for process in (demo.host, demo.daemon, demo.code_server):
        process.wait(10)
    demo.code_server = demo.processes.start_code_server()
    demo.host = demo.processes.start_host()
    demo.daemon = demo.processes.start_daemon()
    return True


def _kill_one(demo: Demo, words: bytes, chance: Random) -> bool:
    found = _processes(demo, words)
    if found:
        _kill(chance.choice(found))
    return bool(found)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _processes(demo: Demo, words: bytes) -> list[int]:
    """The processes of runs of this demo whose command has these words."""
    spared = {demo.host.pid, demo.daemon.pid, demo.code_server.pid}
    found = having("DAGSTER_HOME", demo.site.home)
    return sorted(
        pid
        for pid, command in found.items()
        if pid not in spared and words in command and b"resource_tracker" not in command
    )

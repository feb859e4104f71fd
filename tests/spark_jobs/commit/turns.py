"""Drivers that take turns: threads, one at a time, stopped and killed at every point that matters.

A driver stops at each `point` until it is given its next turn. Which one that is, a seed decides, so a
history can be repeated. To be killed is never to have another effect: whatever a driver that is dead
still calls on its way out raises `Killed` again, as nothing does for a process after SIGKILL.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from tests.doubles.commit_store import MemoryCommitStepStore
from tests.doubles.wired import wired
from tests.spark_jobs.commit.notes import NOON
from tidegate.spark_jobs.commit.finish import POLL_SECONDS


class Killed(BaseException):
    """The process is gone."""


@dataclass
class Driver:
    """A process. `skew` is how far its clock is ahead."""

    work: Callable[[], None]
    skew: timedelta
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    dead: bool = False
    done: bool = False
    failure: BaseException | None = None


class Turns:
    """Gives the turns."""

    def __init__(self) -> None:
        self.drivers: list[Driver] = []
        self._mine = threading.local()
        self._back = threading.Semaphore(0)

    def start(self, work: Callable[[], None], skew: timedelta) -> Driver:
        """A new driver, which has not done anything yet."""
        driver = Driver(work=work, skew=skew)
        self.drivers.append(driver)
        threading.Thread(target=self._run, args=(driver,), daemon=True).start()
        return driver

    def point(self) -> None:
        """Here a driver may stop for long, or without end. What is not a driver passes by."""
        driver = self.current()
        if driver is None:
            return
        if not driver.dead:
            self._back.release()
            driver.turn.acquire()
        if driver.dead:
            raise Killed

    def current(self) -> Driver | None:
        """The driver that calls."""
        return getattr(self._mine, "driver", None)

    def step(self, driver: Driver) -> None:
        """Lets a driver go on to its next point."""
        driver.turn.release()
        self._back.acquire()
        if driver.done:
            self.drivers.remove(driver)
        if driver.failure is not None:
            raise driver.failure

    def kill(self, driver: Driver) -> None:
        """Ends it where it is."""
        driver.dead = True
        self.step(driver)
        assert driver.done

    def _run(self, driver: Driver) -> None:
        self._mine.driver = driver
        driver.turn.acquire()
        try:
            if not driver.dead:
                driver.work()
        except Killed:
            pass
        except BaseException as failure:  # noqa: BLE001 -- raised where the turns are given
            driver.failure = failure
        driver.done = True
        self._back.release()


def far(store: MemoryCommitStepStore, turns: Turns, loses: Callable[[], bool]) -> MemoryCommitStepStore:
    """Put a commit store at the other end of a wire: one may die, or lose the wire, around each effect.

    Args:
        store: the store.
        turns: who is at work.
        loses: draws whether a call fails, before its effect or after it.
    """

    def passes(method: str) -> None:
        turns.point()
        if turns.current() is not None and loses():
            raise ConnectionError("the wire is cut")

    return wired(store, before=passes, after=passes)


class SkewedClock:
    """The clocks of the drivers, which agree within half a lease. No lease is ever prolonged."""

    def __init__(self, turns: Turns) -> None:
        self.time = NOON
        self._turns = turns

    def now(self) -> datetime:
        driver = self._turns.current()
        return self.time if driver is None else self.time + driver.skew

    def wait(self, stop: threading.Event, seconds: float) -> bool:
        if seconds != POLL_SECONDS:
            return stop.wait()
        self.time += timedelta(seconds=seconds)
        self._turns.point()
        return stop.is_set()

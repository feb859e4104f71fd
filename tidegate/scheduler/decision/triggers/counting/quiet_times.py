"""Quiet times: for each part with a `quiet`, the arrival from which its quiet time counts.

Before the part holds without its `quiet`, that is the last arrival. From then on every arrival starts the
time again, unless it was over before; the arrivals that do so are a chain.

    arrivals   x   x  x     x x   x              x
                       begun      last           too late: the quiet time was over
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from tidegate.scheduler.decision.triggers.counting.arrivals import Arrivals
from tidegate.scheduler.decision.triggers.spans import FOREVER


class Chain(NamedTuple):
    """What is known of the arrivals below a part.

    Attributes:
        begun: when the part holds without its `quiet`; None while it does not.
        walked: up to when the arrivals are known.
        over: whether a quiet time was over before one of them; None for not known.
    """

    begun: datetime | None
    walked: datetime
    over: bool | None


class QuietTimes:
    """The quiet times of a job's trigger.

    Attributes:
        last: the arrival from which each counts, by path; none where it counts from `begun`.
        version: grows when one of them changes.
    """

    def __init__(self, last: Mapping[str, datetime], arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._chains: dict[str, Chain] = {}
        self.last = dict(last)
        self.version = 0

    def restore(self, path: str, begun: datetime | None, time: datetime) -> None:
        """Note that the arrivals below a part were walked up to an instant."""
        if begun is None or begun > time:
            self._chains[path] = Chain(None, time, over=False)
            return
        newest = self._arrivals.known_below(path) or begun
        # What came later than the part looked was not walked.
        over = None if newest > time else newest > self.last.get(path, begun)
        self._chains[path] = Chain(begun, time, over)

    def look_again(self) -> None:
        """Look for the last arrivals again: some of them may have left the job."""
        self._chains = {path: chain for path, chain in self._chains.items() if chain.begun is not None}

    def bring(
        self, path: str, quiet: timedelta, lo: datetime, begun: datetime | None, time: datetime
    ) -> None:
        """Walk over the arrivals below a part.

        Args:
            lo: arrivals before it do not count.
            begun: when the part holds without its `quiet`; None if not by `time`.
        """
        if begun is None:
            self._set(path, self._before_it_holds(path, lo, time), Chain(None, time, over=False))
            return
        last, chain = self._chain(path, lo, begun)
        walked, over = chain.walked, chain.over
        if over is None and walked < time:
            # Restored counts do not say it. One that was walked over and prolonged nothing came too late.
            over = (self._arrivals.next_below(path, last or begun) or FOREVER) <= walked
        while not over and walked < time:
            coming = self._arrivals.next_below(path, walked)
            if coming is None or coming > time:
                break
            # An arrival exactly at the end comes too late: the quiet time was over (rule 15).
            over, walked = coming >= max((last or begun) + quiet, begun), coming
            last = last if over else coming
        self._set(path, last, Chain(begun, max(walked, time), over))

    def _before_it_holds(self, path: str, lo: datetime, time: datetime) -> datetime | None:
        last = self.last.get(path)
        if self._chains.get(path) == Chain(None, time, over=False) and (last is None or last >= lo):
            return last
        return self._arrivals.newest_below(path, lo, time)

    def _chain(self, path: str, lo: datetime, begun: datetime) -> tuple[datetime | None, Chain]:
        """Return the last arrival of the chain from an instant on, as far as it is known."""
        last, known = self.last.get(path), self._chains.get(path)
        if known is not None and known.begun is not None and (last is None or last >= lo):
            # A part that holds later, but before the last arrival of the chain, has the same chain.
            goes_on = begun == known.begun or (last is not None and last >= begun)
            if goes_on:
                return last, known
        last = self._arrivals.newest_below(path, lo, begun)
        return last, Chain(begun, last or begun, over=False)

    def _set(self, path: str, last: datetime | None, chain: Chain) -> None:
        self._chains[path] = chain
        self.version += last != self.last.get(path)
        if last is None:
            self.last.pop(path, None)
        else:
            self.last[path] = last

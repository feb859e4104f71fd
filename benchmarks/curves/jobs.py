"""Every list beside more and more jobs: over REST, as a page of the board, and by its command.

Each list is read without a filter, with each of its filters, and its second page. What is measured is the
processor time of the whole answer of the server's application, without a socket, and of a command in a
process that has loaded it. Each number of jobs has a SQLite store of its own with 1,000 schedules; the stores
take turns. A list shows as many items beside a million jobs as beside ten thousand, so the aim is an exponent
of 0: one that grows reads what it does not show.
"""

import contextlib
import io
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

from fastapi.testclient import TestClient

from benchmarks.aims import verdict
from benchmarks.curves.growth import (
    EXPONENT_LIMIT,
    exponent_of,
    medians,
    print_calibration,
    print_curve,
    print_sizes,
)
from benchmarks.reads import COMMANDS, NS, OTHERS, SCHEDULE, Full, filled_store
from tidegate.cli.main import application
from tidegate.listings.declared import LISTINGS
from tidegate.listings.listing import Filter, Listing, load
from tidegate.server.application import create_application
from tidegate.server.board.rendering import PAGES

SIZES, SHORT_SIZES = (10_000, 100_000, 1_000_000), (10_000, 100_000)
SCHEDULES = 1_000
ROUNDS = 5
FEW_ITEMS = 10
"""Of a page: each filter finds more beside the fewest jobs already."""

EVERY = timedelta(minutes=2)
"""A job: more of them are a longer past, so that a day has as many."""

NOTICED_SECONDS = 0.005
"""A growth by less over the whole curve is not a missed aim: the noise of a small answer."""

PATHS = {"tables": "/api/v1/maintenance/tables", "schedules": f"{NS}/apps/app_1/schedules"}
"""Of lists that have another path than their name."""

BOARD = (
    "/board/schedules/app_1/by_data_1",
    "/board/datasets/app_1/raw_1",
    "/board/jobs?state=FAILED",
    "/board/jobs?reason=W-TRIGGER",
    "/board/events?outcome=failed",
    f"/board/events?schedule={SCHEDULE}&outcome=pending",
    "/board/search?q=by_data_4",
)
"""Pages of the board beside those of its menu."""


class Store(NamedTuple):
    """A full store behind its server's application."""

    full: Full
    client: TestClient


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of reads that grow with the jobs.
    """
    return print_reads("jobs", SHORT_SIZES if short else SIZES, _opened, _reads)


def print_reads(
    what: str,
    sizes: Sequence[int],
    open_store: Callable[[ExitStack, Path, int], Store],
    reads_of: Callable[[Sequence[Store]], Iterator[tuple[str, Sequence[Callable[[], object]]]]],
) -> int:
    """Measure reads of a store of each size, print their curves, and return how many of them grow.

    Args:
        what: there is more and more of.
        open_store: opens a store of a size, which the stack closes, in a folder that all of them share.
        reads_of: yields the name of each read, and what reads each store.
    """
    print_calibration()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        stores = [open_store(stack, Path(folder), size) for size in sizes]
        print_sizes(what, sizes)
        return sum(_print_read(name, reads, sizes) for name, reads in reads_of(stores))


def _opened(stack: ExitStack, folder: Path, jobs: int) -> Store:
    url = f"sqlite:///{folder}/{jobs}.db"
    return served(stack, stack.enter_context(filled_store(url, SCHEDULES, jobs, jobs * EVERY)))


def served(stack: ExitStack, full: Full) -> Store:
    """Return a full store behind its server's application, which the stack closes."""
    server = create_application(full.service)
    client = TestClient(server, base_url="http://127.0.0.1", client=("127.0.0.1", 50_000))
    return Store(full, stack.enter_context(client))


def _print_read(name: str, reads: Sequence[Callable[[], object]], sizes: Sequence[int]) -> int:
    """Measure a read of each store, print its curve, and return 1 if it grows."""
    for read in reads:
        read()
    found = medians([partial(_seconds, read) for read in reads], ROUNDS)
    exponent = exponent_of(sizes, found)
    print_curve(name, [1000 * each for each in found], exponent)
    if exponent <= EXPONENT_LIMIT or found[-1] - found[0] < NOTICED_SECONDS:
        return 0
    return verdict(f"{name}, exponent", exponent, EXPONENT_LIMIT)


def _seconds(read: Callable[[], object]) -> float:
    begun = time.process_time()
    read()
    return time.process_time() - begun


def _reads(stores: Sequence[Store]) -> Iterator[tuple[str, list[Callable[[], object]]]]:
    """Yield the name of each read, and what reads each store."""
    for name, paths in _paths(stores):
        yield name.replace(NS, "GET "), [partial(get, *each) for each in zip(stores, paths, strict=True)]
    for command in COMMANDS:
        yield " ".join(command), [partial(call, each, command) for each in stores]
    for words in (("jobs", "show"), ("why",)):
        called = [(*words, each.full.waiting) for each in stores]
        yield " ".join((*words, "JOB")), [partial(call, *each) for each in zip(stores, called, strict=True)]


def _paths(stores: Sequence[Store]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the name of what the server answers, and its path in each store."""
    fixed = (
        *(path for path, _ in PAGES),
        *BOARD,
        *(path for path in OTHERS if "?" not in path),
        f"{NS}/timeline?from=-12h&to=%2B24h",
        f"{NS}/search?q=by_data_4",
    )
    for path in fixed:
        yield path, [path] * len(stores)
    for what in ("jobs/{}", "jobs/{}/why", "events?job={}"):
        yield f"{NS}/{what}", [f"{NS}/{what.format(each.full.waiting)}" for each in stores]
    for listing in LISTINGS.values():
        path = PATHS.get(listing.name, f"{NS}/{listing.name}")
        for given in _filters(listing):
            yield from pages(stores, path, given)


def pages(stores: Sequence[Store], path: str, given: dict[str, str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield the first page of a list with some filters, and the second one where there is one."""
    name, query = " ".join((path, *(f"{each}={given[each]}" for each in given))), _query(path, given)
    yield name, [query] * len(stores)
    nexts = [each.client.get(query).json()["next"] for each in stores]
    if all(nexts):
        yield f"{name}, second page", [_query(path, {**given, "cursor": each}) for each in nexts]


def _query(path: str, given: dict[str, str]) -> str:
    return f"{path}?{urlencode({**given, 'limit': FEW_ITEMS})}"


def _filters(listing: Listing) -> Iterator[dict[str, str]]:
    """Yield no filter, and each filter alone with some of its values."""
    if listing.name == "schedules":
        yield {"trigger-type": "cron"}
        return
    yield {}
    for each in listing.filters:
        if each.name != "history":  # of one dataset only
            yield from ({each.name: value} for value in _values(each))


def _values(of: Filter) -> Sequence[Any]:
    recently = datetime.now(UTC) - timedelta(hours=3)
    match of.kind:
        case "state":
            return [str(each) for each in load(of.of)]
        case "flag":
            return ["true", "false"]
        case "instant":
            return [f"{recently:%Y-%m-%dT%H:%MZ}"]
        case "day":
            return [f"{recently:%Y-%m-%d}"]
        case "app":
            return ["app_1"]
        case "schedule":
            return [SCHEDULE]
        case "dataset":
            return ["app_1/raw_1"]
        case "reason":
            return ["W-TRIGGER", "F-RUN", "D-TIMEOUT"]
        case _:
            return []


def get(store: Store, path: str) -> None:
    """Ask the server of a store."""
    answer = store.client.get(path)
    assert answer.status_code == 200, (path, answer.text)


def call(store: Store, words: Sequence[str]) -> None:
    """Call a command in the project of a store."""
    with contextlib.chdir(store.full.folder), contextlib.redirect_stdout(io.StringIO()):
        application(list(words), standalone_mode=False)

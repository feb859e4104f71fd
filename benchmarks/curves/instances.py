"""Lists of instances beside more and more of them: over REST, as a page of the board, and by its command.

A day has as many instances in each store, of the same 25 tasks; more of them are a longer past. They are
read as `jobs` reads its lists, and the aim is an exponent of 0.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks.curves.jobs import Store, call, get, pages, print_reads, served
from benchmarks.cycles import DAY, GENERATED_AT, add_finished, deploy_tasks, opened, play_ticks
from benchmarks.reads import NS, Full
from tidegate.project.settings.settings import load_settings
from tidegate.server.service import Service

SIZES, SHORT_SIZES = (10_000, 100_000, 1_000_000), (10_000, 100_000)
TASKS = 25
"""They have some 1,000 instances a day, so that the smallest store has the days that an instance looks at."""

A_DAY = 1_000
FILTERS: tuple[dict[str, str], ...] = (
    {},
    {"app": "a"},
    {"task": "a/t10"},
    {"day": str(DAY)},
    {"status": "Successful"},
    {"status": "Not Run"},
    {"task": "a/t10", "status": "Successful"},
    {"backfill": "0"},
)
BOARD = (
    "/board/instances",
    "/board/instances?app=a",
    f"/board/instances?day={DAY}",
    f"/board/day?day={DAY}",
    "/board/tasks",
    "/",
)
INSTANCE = ("t10", f"{DAY}-10:00")
COMMANDS = (
    ("instances", "list"),
    ("instances", "list", "--day", str(DAY)),
    ("instances", "list", "--task", "a/t10"),
    ("instances", "list", "--status", "not-run"),
    ("instances", "show", *INSTANCE),
    ("tasks", "list"),
    ("status",),
    ("why", "a/t10"),
)


def main(*, short: bool = False) -> int:
    """Measure and print.

    Returns:
        The number of reads that grow with the instances.
    """
    return print_reads("instances", SHORT_SIZES if short else SIZES, _opened, _reads)


def _opened(stack: ExitStack, shared: Path, instances: int) -> Store:
    folder = shared / str(instances)
    folder.mkdir()
    store = opened(folder / "store.db")
    stack.callback(store.close)
    deploy_tasks(store, TASKS)
    play_ticks(store, GENERATED_AT, goes_on=lambda report: report.fired > 0)
    add_finished(store, instances - A_DAY)
    (folder / "tidegate.toml").write_text(f'[store]\nurl = "sqlite:///{folder}/store.db"\n')
    return served(stack, Full(Service(settings=load_settings(folder), store=store), folder, ""))


def _reads(stores: Sequence[Store]) -> Iterator[tuple[str, Sequence[Callable[[], object]]]]:
    for given in FILTERS:
        for name, paths in pages(stores, f"{NS}/instances", given):
            reads = [partial(get, *each) for each in zip(stores, paths, strict=True)]
            yield name.replace(NS, "GET "), reads
    instance = "/".join(INSTANCE)
    for path in (f"{NS}/tasks", f"{NS}/instances/{instance}", *BOARD):
        yield path.replace(NS, "GET "), [partial(get, each, path) for each in stores]
    for command in COMMANDS:
        yield " ".join(command), [partial(call, each, command) for each in stores]

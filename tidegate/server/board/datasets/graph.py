"""The graph of datasets: which of them a page has, the state of each, and what leads from one to another.

At most `DATASETS_SHOWN` datasets are on a page; with more, most apps are folded, one card for each. What is
read grows with the page: a look-up for each dataset and schedule, in one query for each kind of them.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import islice

from tidegate.domain.model import Dataset
from tidegate.domain.part_name import app_of, whole_name
from tidegate.domain.value import Value
from tidegate.scheduler.explain.work import RECENTLY, RUNNING, WAITING
from tidegate.scheduler.model.deployed import DeployedApp, ScheduleState
from tidegate.scheduler.model.event import SUBSCRIPTIONS, event_keys_of
from tidegate.scheduler.model.job import JobState
from tidegate.scheduler.store.answers import JobCount, NewestJob
from tidegate.scheduler.store.listing_reader import ListingReader
from tidegate.scheduler.store.wanted import LateWanted
from tidegate.server.board.datasets.edges import Edge, ends_of, flows, triggers
from tidegate.server.board.datasets.states import (
    RANK,
    AppCondition,
    State,
    condition_of,
    condition_of_app,
    count_text,
)

DATASETS_SHOWN = 300
"""A graph of more could not be read."""

OPENED = 100
"""Where there are more, so many are open at first: those of the apps in the worst state."""

SCHEDULES_READ = 1_000
"""Schedules of the open apps whose triggers and jobs a page shows."""

LATE_READ = 1_000
"""The newest periods that are late."""


class Asked(Value, kw_only=True):
    """What a page is asked for.

    Attributes:
        apps: those that are open; none for all, or where they are too many, for the first ones.
        first: the app that is open before others; "" for none.
        search: what the names of the datasets contain.
        only: the one dataset that is wanted; "" for all.
        after: the dataset behind which the page begins, "app/name".
    """

    apps: tuple[str, ...] = ()
    first: str = ""
    search: str = ""
    only: str = ""
    after: str = ""


class DatasetCard(Value, kw_only=True):
    """A dataset of the graph.

    Attributes:
        name: "app/name".
        state: see `State`.
        says: the state in words.
        last: the key of the partition that landed last, "" for the whole dataset; None before anything has.
        landed_at: when that was.
        partitions: the names of its dimensions, in words.
        written_by: the programs that write it, "app/name".
        read_by: those that read it.
        starts: the schedules that its partitions start, "app/name".
    """

    name: str
    app: str
    state: State
    says: str
    last: str | None
    landed_at: datetime | None
    format: str
    partitions: str
    written_by: tuple[str, ...]
    read_by: tuple[str, ...]
    starts: tuple[str, ...]


class AppCard(Value, kw_only=True):
    """An app of the graph.

    Attributes:
        datasets: how many it has, of those that are asked for.
        open: whether its datasets are on the page.
        state: the worst of its jobs and periods; None if none of them has failed, is late or is open.
        says: the state in words.
    """

    name: str
    datasets: int
    open: bool
    state: State | None
    says: str


class Graph(Value, kw_only=True):
    """The page.

    Attributes:
        says: one sentence on all of it.
        search: see `Asked`.
        apps: all apps with datasets that are asked for, by name.
        datasets: those of the open apps, the worst state first, then by name.
        edges: between "dataset:app/name" and "program:app/name".
        matching: how many datasets are asked for, also those that are not on the page.
        next: `after` of the next page; "" on the last one.
        whole: whether all schedules of the open apps were read.
    """

    says: str
    search: str
    apps: tuple[AppCard, ...]
    datasets: tuple[DatasetCard, ...]
    edges: tuple[Edge, ...]
    matching: int
    next: str
    whole: bool


def read_graph(reader: ListingReader, deployed: Sequence[DeployedApp], asked: Asked, now: datetime) -> Graph:
    """Return the graph of some apps.

    Args:
        deployed: those that the caller sees.
    """
    found = {
        name: datasets
        for name, app in sorted((app.name, app) for app in deployed)
        if (datasets := _matching(app, asked))
    }
    late = _late(reader, found)
    folded = _conditions_of_apps(reader, found, late, now)
    open_ = _open(found, folded, asked)
    matching = [ref for name in found if name in open_ for ref in found[name] if ref > asked.after]
    shown = matching[:DATASETS_SHOWN]
    states, whole = _schedules(reader, shown, [app for app in deployed if app.name in open_])
    edges = _edges(deployed, states, open_)
    cards = _cards(reader, {ref: found[app_of(ref)][ref] for ref in shown}, states, edges, late, now)
    return Graph(
        says=_says(cards, sum(map(len, found.values())), asked.search),
        search=asked.search,
        apps=tuple(
            AppCard(
                name=name,
                datasets=len(datasets),
                open=name in open_,
                state=folded[name].state,
                says=folded[name].says,
            )
            for name, datasets in found.items()
        ),
        datasets=cards,
        edges=edges,
        matching=sum(map(len, found.values())),
        next=shown[-1] if len(matching) > len(shown) else "",
        whole=whole,
    )


def _matching(app: DeployedApp, asked: Asked) -> dict[str, Dataset]:
    refs = {f"{app.name}/{name}": dataset for name, dataset in sorted(app.app.datasets.items())}
    search = asked.search.lower()
    return {ref: dataset for ref, dataset in refs.items() if search in ref and asked.only in ("", ref)}


class Late(Value, kw_only=True):
    """What is past its deadline.

    Attributes:
        periods: by dataset.
        jobs: how many, by schedule.
        numbers: of both, by app.
    """

    periods: dict[str, list[str]]
    jobs: dict[str, int]
    numbers: dict[str, int]


def _late(reader: ListingReader, apps: Collection[str]) -> Late:
    periods: dict[str, list[str]] = {}
    for each in reader.late_periods(LateWanted(apps=tuple(apps), now=True), LATE_READ):
        periods.setdefault(each.dataset, []).append(each.period)
    jobs, numbers = reader.late_jobs(), Counter[str]()
    for ref, number in (*jobs.items(), *((ref, len(keys)) for ref, keys in periods.items())):
        numbers[app_of(ref)] += number
    return Late(periods=periods, jobs=jobs, numbers=numbers)


def _conditions_of_apps(
    reader: ListingReader, found: Mapping[str, Mapping[str, Dataset]], late: Late, now: datetime
) -> dict[str, AppCondition]:
    jobs, failed = (
        _by_app(counts)
        for counts in (
            reader.job_counts((*RUNNING, *WAITING), operations=False),
            reader.job_counts((JobState.FAILED,), ended_since=now - RECENTLY, operations=False),
        )
    )
    return {
        app: condition_of_app(len(refs), jobs.get(app, ()), failed.get(app, ()), late.numbers.get(app, 0))
        for app, refs in found.items()
    }


def _by_app(counts: Iterable[JobCount]) -> dict[str, list[JobCount]]:
    """Return counts by app, without instances whose time has not come."""
    found: dict[str, list[JobCount]] = {}
    for count in counts:
        if not (count.reason or "").startswith("W-TIME"):
            found.setdefault(count.app, []).append(count)
    return found


def _open(
    found: Mapping[str, Collection[str]], folded: Mapping[str, AppCondition], asked: Asked
) -> frozenset[str]:
    """Return the apps whose datasets are shown."""
    if asked.apps:
        return frozenset(asked.apps) & found.keys()

    def worst_first(app: str) -> tuple[bool, int, str]:
        state = folded[app].state
        return app != asked.first, (len(RANK) if state is None else RANK[state]), app

    if sum(map(len, found.values())) <= DATASETS_SHOWN:
        return frozenset(found)
    opened, left = set[str](), OPENED
    for app in sorted(found, key=worst_first):
        if opened and len(found[app]) > left:
            continue
        opened.add(app)
        left -= len(found[app])
    return frozenset(opened)


def _schedules(
    reader: ListingReader, datasets: Sequence[str], deployed: Sequence[DeployedApp]
) -> tuple[list[ScheduleState], bool]:
    """Return the schedules of the open apps, and those of others that their datasets start."""
    found: dict[str, ScheduleState] = {}
    whole = True
    for app in deployed:
        left = SCHEDULES_READ - len(found)
        states = reader.schedules(app=app.name, limit=left + 1)
        whole = whole and len(states) <= left
        found |= {state.ref: state for state in states[:left]}
    keys = [key for ref in datasets for key in event_keys_of(ref)]
    heard = (each.schedule for each in reader.records(SUBSCRIPTIONS, event_key=keys))
    own = {app.name for app in deployed}
    others = dict.fromkeys(ref for ref in heard if app_of(ref) not in own)
    found |= {state.ref: state for state in reader.schedules(refs=tuple(islice(others, SCHEDULES_READ)))}
    return list(found.values()), whole and len(others) <= SCHEDULES_READ


def _edges(
    deployed: Sequence[DeployedApp], states: Sequence[ScheduleState], open_: Collection[str]
) -> tuple[Edge, ...]:
    """Return what leads from or to an open app, among the apps that the caller sees."""
    seen = {app.name for app in deployed}
    found: list[Edge] = []
    for app in deployed:
        reads, writes = flows(app.app.programs.values(), app.name)
        found += [*reads, *writes]
    found += triggers([state for state in states if state.app in seen])
    return tuple(
        edge for edge in found if {_app_of_node(edge.source), _app_of_node(edge.target)} & set(open_)
    )


def _app_of_node(node: str) -> str:
    return app_of(node.partition(":")[2])


def _cards(
    reader: ListingReader,
    datasets: Mapping[str, Dataset],
    states: Sequence[ScheduleState],
    edges: Sequence[Edge],
    late: Late,
    now: datetime,
) -> tuple[DatasetCard, ...]:
    ends = ends_of(edges)
    written = {program for ref in datasets for program in ends.writers.get(ref, ())}
    schedules: dict[str, list[str]] = {}
    for state in states:
        program = whole_name(state.app, state.spec.program) if state.spec.program else ""
        if program in written:
            schedules.setdefault(program, []).append(state.ref)
    landings = {each.dataset: each for each in reader.landings(datasets)}
    jobs: dict[str, list[NewestJob]] = {}
    for job in reader.newest_jobs([ref for refs in schedules.values() for ref in refs]):
        jobs.setdefault(job.schedule, []).append(job)

    def card(ref: str, dataset: Dataset) -> DatasetCard:
        own = {each for program in ends.writers.get(ref, ()) for each in schedules.get(program, ())}
        landing, scheme = landings.get(ref), dataset.partitions
        condition = condition_of(
            [job for each in own for job in jobs.get(each, ())],
            late.periods.get(ref, ()),
            sum(late.jobs.get(each, 0) for each in own),
            landing,
            now,
        )
        return DatasetCard(
            name=ref,
            app=app_of(ref),
            state=condition.state,
            says=condition.says,
            last=None if landing is None else landing.partition,
            landed_at=None if landing is None else landing.at,
            format=dataset.format,
            partitions="none" if scheme is None else " and ".join(scheme.dimension_names()),
            written_by=tuple(ends.writers.get(ref, ())),
            read_by=tuple(ends.readers.get(ref, ())),
            starts=tuple(ends.starts.get(ref, ())),
        )

    found = [card(ref, dataset) for ref, dataset in datasets.items()]
    return tuple(sorted(found, key=lambda card: (RANK[card.state], card.name)))


def _says(cards: Sequence[DatasetCard], matching: int, search: str) -> str:
    """Return the sentence of the page."""
    if not matching:
        return f'No name of a dataset has "{search}" in it.' if search else "No dataset is deployed."
    counts = Counter(card.state for card in cards)
    shown = count_text(matching) if len(cards) == matching else f"{len(cards):,} of {count_text(matching)}"
    bad = ", ".join(f"{counts[state] or 'none'} {state}" for state in (State.FAILED, State.LATE))
    never = f", {counts[State.NEVER]} without anything yet" if counts[State.NEVER] else ""
    rest = ", the rest is fresh or on its way" if counts[State.FAILED] or counts[State.LATE] else ""
    return f"{shown}: {bad}{never}{rest}."

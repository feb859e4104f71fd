"""A deployment that reads only the apps that differ does what one that reads everything does.

Random histories of two stores: in one of them the digests of apps are taken away before each step, so that
everything is read and compared. Differences, refusals and all rows stay equal, and a digest that is there is
that of what is deployed.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import msgspec
import pytest

from tests.effort import much
from tests.worlds.by import CLI
from tests.worlds.samples import NOON
from tidegate.compiler.compile import compile_files
from tidegate.compiler.compile_one import compile_schedule
from tidegate.compiler.fingerprint import content_digest
from tidegate.compiler.plan.ownership import Scope, Storage
from tidegate.domain.model import App
from tidegate.domain.time.expiry import Until
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps, deployed_rows, stored_digest
from tidegate.scheduler.commands.deployment.live import compared
from tidegate.scheduler.commands.deployment.schedules import delete_schedules, put_schedule
from tidegate.scheduler.commands.reverts import revert
from tidegate.scheduler.explain.operations.coverage import coverage, load_known
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.model.event import SUBSCRIPTIONS
from tidegate.scheduler.model.kind import Kind
from tidegate.scheduler.model.records.expected import EXPECTED_DATA
from tidegate.scheduler.model.records.override import OVERRIDES
from tidegate.scheduler.model.records.specification import SPECIFICATIONS
from tidegate.scheduler.model.refused import Refused
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.scheduler.store.memory.store import MemoryStore
from tidegate.scheduler.store.protocol import EngineTransaction
from tidegate.scheduler.tick.tick import tick

STORAGES = (Storage(paths_from="/one", warehouse="/lake"), Storage(paths_from="/two", warehouse="/lake"))
NAMES = ("a", "b", "c", "d")


@dataclass
class File:
    """One app as it is written: what of it is there, and how."""

    lines: int = 0
    schedules: set[int] = field(default_factory=lambda: {0, 1})
    cycle: str = "day"
    dataset: str = "raw"
    former: str = ""
    priority: str = "normal"
    path: str = ""
    other: str = ""
    tasks: int = 0
    policy: bool = False
    broken: bool = False

    def text(self, name: str) -> str:
        """Return the YAML."""
        renamed = f", renamed_from: {self.former}" if self.former else ""
        path = f", path: {self.path}" if self.path else ""
        scheme = f"{{cycle: {self.cycle}, start: 2026-01-01}}"
        found = [
            *("# a line" for _ in range(self.lines)),
            f"app: {name}",
            f"datasets: {{{self.dataset}: {{partitions: {scheme}{renamed}{path}}}, made: {{}}}}",
            f"programs: {{p: {{run: m.p, reads: [{self.dataset}], writes: [made]}}}}",
            "schedules:",
        ]
        for number in sorted(self.schedules):
            trigger = f"partitions: {{dataset: {self.dataset}}}"
            if number == 2 and self.other:
                trigger = f"partitions: {{dataset: {self.other}}}"
            elif number % 2:
                trigger = f'cron: "{number} 3 * * *"'
            found.append(f"  s{number}: {{program: p, trigger: {{{trigger}}}, priority: {self.priority}}}")
        if not self.schedules:
            found[-1] = "groups: {g: all}"
        if self.tasks:
            found.append("tasks:")
            found.append(f"  t0: {{type: source, dataset: {self.dataset}, cycle: day, update: outside}}")
            if self.tasks > 1:
                found.append("  t1: {program: p, cycle: day}")
        if self.policy:
            found.append("policies: {tidy: {tables: [made], operations: {expire_snapshots: {interval: 7d}}}}")
        return "\n".join((*found, ""))


class Project:
    """A project that changes by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.files = {name: File() for name in NAMES[:3]}

    def change(self) -> None:
        """Change one thing."""
        chance = self._chance
        name = chance.choice(NAMES)
        if name not in self.files:
            self.files[name] = File()
            return
        if chance.random() < 0.15 and len(self.files) > 1:
            del self.files[name]
            return
        file = self.files[name]
        match chance.randrange(10):
            case 0:
                file.lines = chance.randrange(3)
            case 1 | 2:
                file.schedules = set(chance.sample(range(5), chance.randrange(1, 5)))
            case 3:
                file.cycle = chance.choice(("day", "hour"))
            case 4:
                former, file.dataset = file.dataset, chance.choice(("raw", "fresh"))
                file.former = former if former != file.dataset and chance.random() < 0.7 else ""
            case 5:
                file.priority = chance.choice(("normal", "high"))
            case 6:
                file.path = chance.choice(("", f"landing/{name}", "landing"))
            case 7:
                other = chance.choice(sorted(self.files))
                file.other = chance.choice(("", f"{other}/{self.files[other].dataset}"))
                file.schedules.add(2)
            case 8:
                file.tasks = chance.randrange(3)
            case _:
                file.policy = not file.policy

    def apps(self, known: Mapping[str, App]) -> dict[str, App] | None:
        """Return the compiled apps; None if it has errors."""
        files = {f"{name}.yaml": file.text(name).encode() for name, file in self.files.items()}
        found = compile_files(files, known=lambda: known)
        return found.models() if found.ok else None


Step = Callable[[EngineTransaction], Any]


class Stores:
    """Two stores with the same history, one of them without digests."""

    def __init__(self) -> None:
        self.digests, self.plain = MemoryStore(), MemoryStore()
        self.skipped = 0

    def do(self, step: Step) -> None:
        """Do the same in both, and compare what came of it, and the rows."""
        found = [outcome(store, step) for store in (self.digests, self.plain)]
        assert found[0] == found[1]
        with self.digests.reading() as one, self.plain.reading() as other:
            assert rows_of(one) == rows_of(other)
            whole = deployed_apps(one)
            for each in one.app_headers():
                assert each.digest in ("", content_digest(whole[each.name])), each.name

    def forget(self) -> None:
        """Take the digests away from the store that reads everything."""
        with self.plain.transaction() as transaction:
            known = transaction.records(APPS)
            transaction.put_records(APPS, [msgspec.structs.replace(each, digest="") for each in known])

    def look(self, wanted: Mapping[str, App], scope: Scope, *, update_schedules: bool) -> None:
        """Compare the differences, and what they mean for tables."""
        with self.digests.reading() as one, self.plain.reading() as other:
            found = [seen(reader, wanted, scope, update_schedules) for reader in (one, other)]
            self.skipped += len(deployed_rows(one, wanted).same)
            assert not deployed_rows(other, wanted).same
        assert found[0] == found[1]


def seen(reader: EngineReader, wanted: Mapping[str, App], scope: Scope, update: bool) -> Any:
    """Return a difference, and what it covers, without what says how it was found."""
    found = compared(reader, wanted, update_schedules=update, scope=scope)
    covered = coverage(load_known(reader, wanted, found.former), found.changes)
    assert covered == coverage(load_known(reader, wanted), found.changes)
    changes = msgspec.structs.replace(found.changes, same=frozenset())
    return changes, covered, found.deployed, found.former, [*changes.after]


def outcome(store: MemoryStore, step: Step) -> Any:
    """Return what a step gives, or why it is refused."""
    try:
        with store.transaction() as transaction:
            found = step(transaction)
    except Refused as refusal:
        return str(refusal)
    return msgspec.structs.replace(found, same=frozenset()) if hasattr(found, "same") else found


def rows_of(reader: EngineReader) -> Any:
    """Return all rows that deployments write, without digests."""
    kinds: tuple[Kind[Any], ...] = (SUBSCRIPTIONS, OVERRIDES, SPECIFICATIONS, EXPECTED_DATA)
    apps = [msgspec.structs.replace(each, digest="") for each in reader.records(APPS)]
    records = [reader.records(kind) for kind in kinds]
    return apps, reader.schedules(), reader.jobs(), reader.journal(), records


def history(seed: int, steps: int) -> Stores:
    """Play a random history."""
    chance, stores, now = random.Random(seed), Stores(), NOON
    projects = {"one": Project(chance), "two": Project(chance)}
    projects["two"].files = {"z": File()}
    for _ in range(steps):
        now += timedelta(minutes=chance.choice((1, 1, 90)))
        with stores.digests.reading() as reader:
            deployed = deployed_apps(reader)
        stores.forget()
        if deployed and chance.random() < 0.25:
            stores.do(by_hand(chance, deployed, now))
            continue
        if chance.random() < 0.3:
            for store in (stores.digests, stores.plain):
                tick(store, now)
        name = "two" if chance.random() < 0.2 else "one"
        project = projects[name]
        if name == "one":
            project.change()
        else:
            # It names a part of the other project, which may be renamed later.
            first = next(iter(sorted(projects["one"].files)))
            project.files["z"].other = f"{first}/{projects['one'].files[first].dataset}"
            project.files["z"].schedules = {0, 2}
        wanted = project.apps(deployed)
        if wanted is None:
            continue
        only = frozenset(chance.sample(sorted(wanted), 1)) if chance.random() < 0.2 else None
        storage = STORAGES[chance.random() < 0.1] if name == "one" else STORAGES[1]
        removable = chance.choice((None, frozenset[str]()))
        scope = Scope(project=name, only=only, removable=removable, storage=storage)
        options: dict[str, Any] = {"update_schedules": chance.random() < 0.8, "scope": scope}
        stores.look(wanted, **options)
        force = chance.random() < 0.5
        stores.do(deployment(wanted, now, force=force, options=options))
    return stores


def deployment(wanted: Mapping[str, App], now: datetime, *, force: bool, options: dict[str, Any]) -> Step:
    """Return the step that deploys apps."""
    return lambda transaction: deploy(transaction, wanted, now, force=force, by=CLI, **options)


def by_hand(chance: random.Random, deployed: Mapping[str, App], now: datetime) -> Step:
    """Return a step that changes a schedule by a call, or takes such a change back."""
    app = deployed[chance.choice(sorted(deployed))]
    name = chance.choice([*sorted(app.schedules), "called"])
    number = chance.randrange(60)
    document = {"program": "p", "trigger": {"cron": f"{number} 5 * * *"}}
    spec, _ = compile_schedule(msgspec.structs.replace(app, schedules={}), name, document)
    assert spec is not None
    until = None if chance.random() < 0.5 else Until(at=now + timedelta(hours=1))

    def step(transaction: EngineTransaction) -> Any:
        match chance_of_step:
            case 0:
                return delete_schedules(transaction, [f"{app.name}/{name}"], now, force=True, by=CLI)
            case 1:
                return revert(transaction, f"{app.name}/{name}", now, CLI)
            case _:
                return put_schedule(transaction, app.name, spec, now, CLI, until)

    chance_of_step = chance.randrange(4)
    return step


@pytest.mark.parametrize("seed", range(much(16)))
def test_what_differs_is_found_as_if_everything_were_read(seed: int) -> None:
    stores = history(seed, 24)
    assert stores.skipped > 0


def test_a_rename_takes_the_digest_of_an_app_away_that_names_the_renamed_part() -> None:
    store, file, other = MemoryStore(), File(), File(schedules={2}, other="a/raw")
    apps = compile_files({"a.yaml": file.text("a").encode(), "z.yaml": other.text("z").encode()}).models()
    with store.transaction() as transaction:
        deploy(transaction, {"a": apps["a"]}, NOON, scope=Scope(project="one"), by=CLI)
        deploy(transaction, {"z": apps["z"]}, NOON, scope=Scope(project="two"), by=CLI)
        assert all(each.digest == content_digest(apps[each.name]) for each in transaction.app_headers())

    file.dataset, file.former = "fresh", "raw"
    renamed = compile_files({"a.yaml": file.text("a").encode()}).models()
    with store.transaction() as transaction:
        deploy(transaction, renamed, NOON + timedelta(hours=1), scope=Scope(project="one"), by=CLI)
        digests = {each.name: each.digest for each in transaction.app_headers()}
        # The dataset stays where it was, which is part of the app.
        assert digests == {"a": content_digest(deployed_apps(transaction)["a"]), "z": ""}
        assert deployed_rows(transaction, renamed).same.keys() == {"a"}


def test_an_app_that_the_store_would_change_has_no_digest() -> None:
    app = compile_files({"a.yaml": File().text("a").encode()}).models()["a"]
    assert stored_digest(app) == content_digest(app) != ""
    spec = app.schedules["s0"]
    odd = msgspec.structs.replace(spec, args={"share": float("nan")})
    assert stored_digest(msgspec.structs.replace(app, schedules={"s0": odd})) == ""
    vast = msgspec.structs.replace(spec, args={"rows": 2**70})
    assert content_digest(msgspec.structs.replace(app, schedules={"s0": vast})) == ""


def test_where_and_in_which_order_schedules_are_written() -> None:
    app = compile_files({"a.yaml": File().text("a").encode()}).models()["a"]
    backwards = msgspec.structs.replace(app, schedules=dict(reversed(app.schedules.items())))
    assert content_digest(backwards) == content_digest(app)
    moved = compile_files({"a.yaml": File(lines=1).text("a").encode()}).models()["a"]
    assert content_digest(moved) != content_digest(app)

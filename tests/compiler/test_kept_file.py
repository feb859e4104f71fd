"""What is kept of files changes nothing: random histories of projects, compiled with a cache and without."""

import random
from collections.abc import Collection
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.effort import much
from tidegate.compiler.builders.app import build_app
from tidegate.compiler.compile import Compilation, compile_files
from tidegate.compiler.kept_file import decoded, encoded
from tidegate.compiler.reader import read as read_file
from tidegate.compiler.scope.formats import Formats, StoredFormats
from tidegate.compiler.scope.project_files import files_of
from tidegate.domain.model import App

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(path.parent for path in GOLDEN.glob("*/in.yaml"))
FEEDS = """\
app: feeds
datasets:
  raw: {partitions: {cycle: day, start: 2026-01-01}}
  clean: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  clean: {run: jobs.clean, reads: [raw], writes: [clean]}
schedules:
  daily: {program: clean, trigger: {partitions: {dataset: raw}}, args: {limit: 3}, on_update: reset}
"""
SALES = """\
app: sales
timezone: Europe/Berlin
datasets:
  report: {partitions: {cycle: day, start: 2026-01-01}}
  total: {partitions: {cycle: day, start: 2026-01-01}}
programs:
  report: {run: jobs.report, reads: [feeds/clean], writes: [report]}
  total: {sql: total.sql, reads: [report], writes: [total]}
templates:
  shops:
    for: {rows: shops.csv}
    datasets:
      shop_${each.name}: {partitions: {cycle: day, start: 2026-01-01}}
    schedules:
      of_${each.name}:
        program: report
        trigger: {partitions: {dataset: "shop_${each.name}"}}
        args: {place: "${env.PLACE}"}
schedules:
  nightly: {program: report, trigger: {cron: "30 2 * * *"}}
  after: {program: report, trigger: {partitions: {dataset: default/feeds/clean}}}
tasks:
  feed: {type: source, dataset: report, cycle: day, update: outside}
  made: {program: total, cycle: day, at: {time: "01:00"}}
"""
OWN = {"feeds.yaml": FEEDS.encode(), "sales.yaml": SALES.encode()}
NAMED = {"shops.csv": b"name\nberlin\nparis\n", "total.sql": b"select * from report\n"}


class Never(random.Random):
    """Chance that loses nothing."""

    def random(self) -> float:
        return 0.0


NEVER = Never()


class Kept:
    """A cache that loses by chance."""

    code = b"1"

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.contents = dict[bytes, bytes]()
        self.hits = 0

    def get(self, key: bytes) -> bytes | None:
        found = self.contents.get(key) if self._chance.random() < 0.9 else None
        self.hits += found is not None
        return found

    def put(self, key: bytes, content: bytes) -> None:
        if self._chance.random() < 0.9:
            self.contents[key] = content


class Project:
    """A project that changes by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self.files = dict(OWN)
        self.named = dict(NAMED)
        self.options: dict[str, Any] = {"today": date(2026, 3, 1), "variables": {"PLACE": "here"}}
        self.formats = Formats()
        self.deployed: dict[str, App] = {}

    def change(self) -> None:
        """Change one thing."""
        what = (self._add, self._edit, self._edit, self._restore, self._restore, self._rows, self._option)
        self._chance.choice(what)()

    def _add(self) -> None:
        folder = self._chance.choice(CASES)
        for file in folder.iterdir():
            if file.suffix in (".csv", ".sql"):
                self.named[file.name] = file.read_bytes()
            elif file.name.startswith("in") and file.suffix == ".yaml":
                self.files[f"{folder.name}_{file.name}"] = file.read_bytes()

    def _edit(self) -> None:
        name = self._chance.choice(sorted(self.files))
        lines = self.files[name].splitlines(keepends=True)
        if len(lines) > 1:
            number = self._chance.randrange(len(lines))
            line = lines[number]
            lines[number] = self._chance.choice(
                (b"", line + line, line.replace(b"raw", b"clean"), line.replace(b"feeds", b"other"), b"# \n")
            )
        self.files[name] = b"".join(lines)

    def _restore(self) -> None:
        self.files |= OWN
        del self.files[self._chance.choice(sorted(self.files))]

    def _rows(self) -> None:
        name = self._chance.choice(sorted(self.named))
        self.named[name] = self._chance.choice(
            (b"", NAMED.get(name, b"name\n"), self.named[name] + b"rome\n")
        )

    def _option(self) -> None:
        self.options |= self._chance.choice(
            (
                {"today": self._chance.choice((None, date(2026, 3, 1), date(2026, 9, 1)))},
                {"on_update": self._chance.choice(("reset", "carry"))},
                {"variables": self._chance.choice(({}, {"PLACE": "here"}, {"PLACE": "there"}))},
                {"warehouse": self._chance.choice((None, "landing"))},
                {"everywhere": self._chance.random() < 0.5},
            )
        )
        names = ("feeds/raw", "feeds/clean", "sales/report", "sales/shop_berlin")
        found = {
            name: self._chance.choice(("parquet", "iceberg")) for name in names if self._chance.random() < 0.3
        }
        self.formats = Formats(default=self._chance.choice(("parquet", "iceberg")), deployed=found)
        compiled = self.compiled(None)
        self.deployed = compiled.models() if self._chance.random() < 0.5 else {}
        if self.deployed and self._chance.random() < 0.5:
            self.deploy(compiled)

    def deploy(self, compiled: Compilation) -> None:
        """Let what was compiled be deployed, as the formats of its datasets have it."""
        apps = compiled.models()
        formats = StoredFormats(apps, lambda names: [apps[name] for name in names])
        self.formats = Formats(default=self.formats.default, deployed=formats, digests=compiled.digests())

    def compiled(self, cache: Kept | None) -> Compilation:
        """Compile it."""
        return compile_files(
            self.files,
            formats=self.formats,
            known=lambda: self.deployed,
            read_file=files_of(self.named),
            cache=cache,
            **self.options,
        )


def everything(compilation: Compilation) -> object:
    """Return all that a compilation has, the nodes of each file included."""
    fields = ("app", "root", "document", "outline", "scenarios", "on_update", "default_format", "others")
    apps = {name: [getattr(app, each) for each in fields] for name, app in compilation.apps.items()}
    return compilation.diagnostics, apps, list(apps)


@pytest.mark.parametrize("seed", range(much(12)))
def test_a_project_compiles_the_same_with_what_was_kept(seed: int) -> None:
    chance = random.Random(seed)
    project, cache = Project(chance), Kept(chance)
    for _ in range(12):
        project.change()
        for _ in range(2):
            assert everything(project.compiled(cache)) == everything(project.compiled(None))


def test_a_file_that_was_kept_is_read_for_its_nodes_only(monkeypatch: pytest.MonkeyPatch) -> None:
    project, cache = Project(random.Random(0)), Kept(NEVER)
    found = everything(project.compiled(cache))
    read = list[str]()

    def noted(file: str, *others: Any) -> Any:
        read.append(file)
        return read_file(file, *others)

    monkeypatch.setattr("tidegate.compiler.source.read", noted)
    monkeypatch.setattr("tidegate.compiler.source.build_app", lambda *_: pytest.fail("built again"))
    again = project.compiled(cache)
    assert cache.hits == len(OWN) and not read
    assert everything(again) == found
    assert read == sorted(OWN)


def test_what_was_kept_before_the_first_deployment_is_good_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    project, cache = Project(random.Random(0)), Kept(NEVER)
    first = project.compiled(cache)
    project.deploy(project.compiled(cache))
    monkeypatch.setattr("tidegate.compiler.source.build_app", lambda *_: pytest.fail("built again"))
    assert everything(project.compiled(cache)) == everything(first)
    # The formats of the one without upstream tasks are those that it was kept with: it is not read.
    formats = dict[str, str]()

    def read(names: Collection[str]) -> list[App]:
        formats.update(dict.fromkeys(names, "read"))
        return [first.models()[name] for name in names]

    stored = StoredFormats(first.models(), read)
    project.formats = Formats(deployed=stored, digests=first.digests())
    project.compiled(cache)
    assert formats.keys() == {"sales"} and first.digests().keys() == {"feeds"}


def test_of_a_changed_file_only_those_that_name_it_are_built_again(monkeypatch: pytest.MonkeyPatch) -> None:
    project, cache = Project(random.Random(0)), Kept(NEVER)
    project.files["alone.yaml"] = FEEDS.replace("feeds", "alone").encode()
    project.compiled(cache)
    built = list[str]()

    def noted(root: Any, *others: Any) -> Any:
        built.append(root.text("app"))
        return build_app(root, *others)

    monkeypatch.setattr("tidegate.compiler.source.build_app", noted)
    project.files["feeds.yaml"] = FEEDS.replace("limit: 3", "limit: 4").encode()
    project.compiled(cache)
    assert built == ["feeds"]
    project.files["feeds.yaml"] = FEEDS.replace(
        "clean: {partitions: {cycle: day", "clean: {partitions: {cycle: hour"
    ).encode()
    project.compiled(cache)
    assert built == ["feeds", "feeds", "sales"]


@pytest.mark.parametrize("value", [(1, 2), 2**70])
def test_a_value_that_bytes_would_change_is_not_kept(value: object) -> None:
    cache = Kept(NEVER)
    compile_files({"feeds.yaml": FEEDS.encode()}, cache=cache)
    (content,) = cache.contents.values()
    kept = decoded(content)
    assert kept is not None and encoded(kept) == content
    app = msgspec.structs.replace(kept.app, written={"args": value})
    assert encoded(msgspec.structs.replace(kept, app=app)) is None


def test_what_is_no_kept_file_is_none() -> None:
    assert decoded(b"") is None
    assert decoded(b"\x93\x01\x02\x03") is None

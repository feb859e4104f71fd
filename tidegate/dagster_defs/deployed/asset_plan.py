"""The assignment of assets to programs, used by definitions, run requests and ingestion.

Dagster requires one owner for each asset and an acyclic graph; an app may have several writers
of a dataset, or programs that read each other's outputs. So the first writer by name owns the
asset, a program that owns no dataset is an asset itself, and a dependency that would close a
cycle is not shown. This affects the display only: the engine decides what triggers what.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import msgspec
from dagster import AssetKey, PartitionsDefinition

from tidegate.dagster_defs.deployed.names import Owned, asset_key, key_of_dataset, program_key, unique_names
from tidegate.dagster_defs.deployed.partitions import partitions_of
from tidegate.dagster_defs.deployed.plan_state import Plan
from tidegate.domain.model import App, Dataset, ExistingJob, PartitionScheme, Program
from tidegate.domain.model.others import with_named
from tidegate.domain.part_name import app_of, whole_name


@dataclass(frozen=True, kw_only=True)
class ProgramAssets:
    """A program with the assets it owns.

    Attributes:
        owned: the datasets that it owns, by asset key; empty for a program that is an asset itself.
        reads: the upstream assets that are shown.
        datasets: the datasets that the program may name, by name: those of its app, and of other apps.
        elsewhere: the inputs of apps of other projects, by name.
    """

    app: App
    program: Program
    op: str
    owned: Mapping[AssetKey, Dataset]
    own_key: AssetKey | None
    reads: Mapping[AssetKey, Dataset]
    datasets: Mapping[str, Dataset]
    elsewhere: frozenset[str]

    @property
    def ref(self) -> str:
        """ "app/program"."""
        return f"{self.app.name}/{self.program.name}"

    @property
    def keys(self) -> tuple[AssetKey, ...]:
        """The assets that a run of the program selects, in the order of its `writes`."""
        return tuple(self.owned) if self.own_key is None else (self.own_key,)

    @property
    def scheme(self) -> PartitionScheme | None:
        """The partition scheme of its outputs; lint requires that they agree."""
        return next(iter(self.program.schemes(self.app.datasets)), None)

    @property
    def partitions(self) -> PartitionsDefinition | None:
        """The partitions of a run of this program."""
        return None if self.scheme is None else partitions_of(self.scheme)


@dataclass(frozen=True, kw_only=True)
class ExistingProgram:
    """A program that is a job of another code location: it has no asset of ours."""

    app: App
    program: Program
    job: ExistingJob

    @property
    def ref(self) -> str:
        """ "app/program"."""
        return f"{self.app.name}/{self.program.name}"


@dataclass(frozen=True, slots=True)
class Selected:
    """The assets of a program with `assets`, as its loaded location has them.

    Attributes:
        location: the name of the code location.
        jobs: those of its jobs that materialise at least one of the assets.
    """

    location: str
    keys: frozenset[AssetKey]
    jobs: frozenset[str]


@dataclass(frozen=True)
class AssetPlan:
    """The programs and datasets of a code location.

    Attributes:
        selected: what the programs with `assets` select, by app and name; noted by the process that launches.
    """

    plan: Plan
    selected: dict[Owned, Selected] = field(default_factory=dict[Owned, Selected], compare=False)

    @cached_property
    def existing(self) -> Mapping[Owned, ExistingProgram]:
        """Every program that is an existing job, by app and name."""
        return {
            (loaded.app.name, name): ExistingProgram(app=loaded.app, program=each, job=each.existing)
            for loaded in self.plan.apps
            for name, each in sorted(loaded.app.programs.items())
            if each.existing is not None
        }

    @cached_property
    def existing_by_job(self) -> Mapping[str, Sequence[ExistingProgram]]:
        """The programs that are existing jobs by the names of these; under "" those with `assets`."""
        found: dict[str, list[ExistingProgram]] = {}
        for each in self.existing.values():
            found.setdefault(each.job.job, []).append(each)
        return found

    @cached_property
    def programs(self) -> Mapping[Owned, ProgramAssets]:
        """Every program whose runs are ours, by app and name."""
        apps = [loaded.app for loaded in self.plan.apps]
        return {(app.name, each.program.name): each for app in apps for each in self._programs_of(app)}

    @cached_property
    def hidden_reads(self) -> frozenset[tuple[str, str]]:
        """The (program, dataset) reads that are not shown, since they would close a cycle.

        They depend on all apps. A code server computes them, and its runs get them with the plan (`to_ship`).
        """
        known = self.plan.hidden_reads
        return frozenset(_closing_reads(self._known.values()) if known is None else known)

    @cached_property
    def _known(self) -> Mapping[str, App]:
        return self.plan.by_name

    @property
    def to_ship(self) -> Plan:
        """The plan with all that depends on all apps, so that a run looks at its own app only."""
        named = (
            msgspec.structs.replace(
                each, ops={name: self._ops[each.app.name, name] for name in each.app.programs}
            )
            for each in self.plan.apps
        )
        hidden = tuple(sorted(self.hidden_reads))
        return msgspec.structs.replace(self.plan, apps=tuple(named), hidden_reads=hidden)

    @cached_property
    def _ops(self) -> Mapping[Owned, str]:
        known = [(each.app.name, each.ops) for each in self.plan.apps if each.ops is not None]
        if len(known) == len(self.plan.apps):
            return {(app, program): op for app, ops in known for program, op in ops.items()}
        owned = ((each.app.name, name) for each in self.plan.apps for name in each.app.programs)
        return unique_names(owned, self.plan.prefix)

    def _programs_of(self, app: App) -> Iterator[ProgramAssets]:
        return _programs_of(app, with_named(app, self._known), self._ops, self.hidden_reads, self.plan.own)

    @cached_property
    def everything(self) -> "AssetPlan":
        """The plan with the apps of all projects."""
        return AssetPlan(self.plan.everything, self.selected) if self.plan.others else self

    @cached_property
    def program_of(self) -> Mapping[AssetKey, ProgramAssets]:
        """The program that materialises each asset."""
        return {key: assets for assets in self.programs.values() for key in assets.keys}

    def programs_of(self, keys: Collection[AssetKey]) -> Iterator[ProgramAssets]:
        """Yield the programs that materialise some assets, in the order of their keys.

        Unlike `program_of` it looks at no program of another app, but for its name.
        """
        apps = {key.path[0] for key in keys}
        found = (
            each
            for loaded in self.plan.apps
            if loaded.app.name in apps
            for each in self._programs_of(loaded.app)
        )
        writers = {key: each for each in found for key in each.keys}
        yield from {writers[key].ref: writers[key] for key in sorted(keys) if key in writers}.values()

    @cached_property
    def datasets(self) -> Mapping[AssetKey, tuple[str, Dataset]]:
        """Every dataset with its app's name, including external ones and assets of others."""
        return {
            key_of_dataset(loaded.app.name, name, dataset): (loaded.app.name, dataset)
            for loaded in self.plan.apps
            for name, dataset in loaded.app.datasets.items()
        }

    @cached_property
    def of_others(self) -> frozenset[str]:
        """The datasets ("app/name") that are assets of other locations."""
        return frozenset(f"{app}/{each.name}" for app, each in self.datasets.values() if each.asset)

    def external(self) -> Iterator[tuple[str, Dataset]]:
        """Yield the datasets that no program of the location writes, with their app's name.

        These are datasets that no program of their app writes, and those of other projects that are read.
        Assets of others are not among them: their own location defines them.
        """
        for key, (app, dataset) in self.datasets.items():
            if key not in self.program_of and not dataset.asset:
                yield app, dataset
        read = {key: dataset for assets in self.programs.values() for key, dataset in assets.reads.items()}
        for key, dataset in sorted(read.items()):
            if key not in self.datasets and not dataset.asset:
                yield key.path[0], dataset

    def revision(self, app: str) -> int | None:
        """Return the loaded revision of an app; None when the app is not loaded."""
        return self.plan.revisions.get(app)


def _programs_of(
    app: App, whole: App, ops: Mapping[Owned, str], cut: Collection[tuple[str, str]], own: frozenset[str]
) -> Iterator[ProgramAssets]:
    owners = app.owners()
    for name, program in sorted(app.programs.items()):
        if program.existing is not None:
            continue
        owned = [dataset for dataset in program.writes if owners[dataset] == name]
        yield ProgramAssets(
            app=app,
            program=program,
            op=ops[app.name, name],
            owned={asset_key(app.name, dataset): app.datasets[dataset] for dataset in owned},
            own_key=None if owned else program_key(app, program),
            reads={
                key_of_dataset(app.name, dataset, whole.datasets[dataset]): whole.datasets[dataset]
                for dataset in program.reads
                if dataset in whole.datasets
                and dataset not in owned
                and (f"{app.name}/{name}", whole_name(app.name, dataset)) not in cut
            },
            datasets=whole.datasets,
            elsewhere=frozenset(d for d in program.reads if app_of(whole_name(app.name, d)) not in own),
        )


def _closing_reads(apps: Iterable[App]) -> set[tuple[str, str]]:
    """Return the (program, dataset) reads to hide so that the graph of all apps is acyclic.

    All projects count, so that every code location hides the same reads.
    """
    reads: dict[str, tuple[str, ...]] = {}
    owners: dict[str, str] = {}
    for app in apps:
        owners |= {f"{app.name}/{d}": f"{app.name}/{program}" for d, program in app.owners().items()}
        for name, program in app.programs.items():
            reads[f"{app.name}/{name}"] = tuple(whole_name(app.name, each) for each in program.reads)
    cut: set[tuple[str, str]] = set()
    while True:
        graph = {
            name: {
                owners[dataset]
                for dataset in reads[name]
                if dataset in owners and owners[dataset] != name and (name, dataset) not in cut
            }
            for name in sorted(reads)
        }
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            # The cycle is a list in which each program is read by the next one; cut its first link.
            upstream, reader = error.args[1][0], error.args[1][1]
            cut |= {(reader, d) for d in reads[reader] if owners.get(d) == upstream}
            continue
        return cut

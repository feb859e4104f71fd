"""A large code location whose definitions are made when they are needed, and not when it is loaded.

the snapshots that Dagster's processes read  made from the plan (`definitions.snapshot`, `job_snapshot`)
a run of some assets                         definitions of their programs alone, as the run's process has
sensors and jobs of ours                     made at the load
the switch or tick of one cron               the schedule of that name
anything else, such as the job of all assets everything is made, once, as in a small location
"""

import itertools
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from threading import Lock
from typing import Any

import msgspec
from dagster import (
    AssetKey,
    AssetsDefinition,
    Definitions,
    JobDefinition,
    RepositoryData,
    RepositoryDefinition,
    ResourceDefinition,
    ScheduleDefinition,
    SensorDefinition,
)

from tidegate.dagster_defs.definitions.job_snapshot import JobTexts
from tidegate.dagster_defs.definitions.left_out import LeftOut
from tidegate.dagster_defs.definitions.run_scope import EVERYTHING, RunScope
from tidegate.dagster_defs.definitions.snapshot import (
    CHECKS,
    CRONS,
    NODES,
    Packed,
    Parts,
    Shown,
    Unlike,
    packed,
)
from tidegate.dagster_defs.deployed.asset_plan import AssetPlan, ProgramAssets
from tidegate.dagster_defs.deployed.names import ALL_ASSETS_JOB, asset_key
from tidegate.dagster_defs.internals.snapshots import JobDataSnap, RepositorySnap
from tidegate.domain.model import Dataset
from tidegate.domain.part_name import Ref

SAMPLES_MAX = 64
"""Programs and datasets of different shapes that are made as Dagster makes them, to compare."""

PARTS_KEPT = 64
"""Definitions of some programs: the host asks twice for each, for the job and for the plan of its run."""

PART_MAX = 200
"""Programs of a run that are made apart. Each run of more, such as that of a backfill, needs most of them."""


@dataclass(frozen=True)
class Part(RunScope):
    """Some programs of a location, with the datasets that they read.

    Attributes:
        beside: external datasets to be shown too.
    """

    chosen: tuple[ProgramAssets, ...] = ()
    beside: tuple[tuple[str, Dataset], ...] = ()

    def programs(self, plan: AssetPlan) -> tuple[ProgramAssets, ...]:
        """Return the programs whose assets are to be built."""
        return self.chosen

    def external(self, plan: AssetPlan) -> Iterator[tuple[str, Dataset]]:
        """Yield the datasets that are shown without a program, with their app's name."""
        read = list(super().external(plan))
        yield from read
        keys = {asset_key(app, dataset.name) for app, dataset in read}
        yield from (each for each in self.beside if asset_key(each[0], each[1].name) not in keys)


def part_of(programs: Iterable[ProgramAssets], beside: Iterable[tuple[str, Dataset]] = ()) -> Part:
    """Return the part of a location with some programs."""
    chosen = tuple(programs)
    keys = frozenset(key for program in chosen for key in program.keys)
    return Part(assets=keys, chosen=chosen, beside=tuple(beside))


@dataclass(frozen=True, kw_only=True)
class Making:
    """How the definitions of a location are made.

    Attributes:
        assets: the assets of a part of it, or of everything.
        beside: what does not grow with it: jobs and sensors of ours.
        shipped: the plan, encoded.
    """

    shown: Shown
    assets: Callable[[RunScope], Definitions]
    beside: Definitions
    shipped: str

    def definitions(self, scope: RunScope, crons: Iterable[str]) -> Definitions:
        """Make the definitions of a part, with some of the crons."""
        made = (self.shown.crons.schedule(name, self.shown.plan) for name in crons)
        return Definitions.merge(self.assets(scope), self.beside, Definitions(schedules=list(made)))

    @property
    def everything(self) -> Definitions:
        """All definitions."""
        return self.definitions(EVERYTHING, self.shown.crons.names)


class PlannedDefinitions(Definitions):
    """The definitions of a location, none of which exists yet; Dagster asks for their repository."""

    def get_repository_def(self) -> RepositoryDefinition:
        """Return the repository."""
        found: RepositoryDefinition = vars(self)["repository"]
        return found


def planned_definitions(making: Making) -> Definitions:
    """Return the definitions of a location that is large; all of them, where they cannot be planned."""
    sample, crons = sample_of(making.shown)
    example = making.definitions(sample, crons).get_repository_def()
    text = packed(RepositorySnap.from_def(example, defer_snapshots=True))
    job = packed(JobDataSnap.from_job_def(example.get_job(ALL_ASSETS_JOB), include_parent_snapshot=True))
    if not is_alike(text, Parts(text, making.shown), sample, crons) or not is_job_alike(job, sample):
        return making.everything
    found = PlannedDefinitions()
    data = PlannedRepository(making, example, text, job)
    vars(found)["repository"] = RepositoryDefinition(
        example.name, repository_data=data, metadata=example.metadata
    )
    return found


def sample_of(shown: Shown) -> tuple[Part, list[str]]:
    """Return a program, an external dataset and a cron of each shape."""
    programs, datasets, crons = dict[Any, ProgramAssets](), dict[Any, tuple[str, Dataset]](), dict[Any, str]()
    for program in shown.plan.programs.values():
        schedules = shown.schedules.get(program.ref, ())
        programs.setdefault((_shape_of(program), *map(_shape_of_schedule, schedules[:2])), program)
    for app, dataset in shown.plan.external():
        datasets.setdefault(_shape_of_dataset(dataset), (app, dataset))
    for name, ref in shown.crons.names.items():
        crons.setdefault(shown.crons.switched[ref].declared, name)
    some = list(programs.values())[:SAMPLES_MAX]
    return part_of(some, list(datasets.values())[:SAMPLES_MAX]), list(crons.values())


def _shape_of(assets: ProgramAssets) -> tuple[object, ...]:
    program = assets.program
    reads = {(each.partitions is None, bool(each.asset)) for each in assets.reads.values()}
    owned = {_shape_of_dataset(each) for each in assets.owned.values()}
    flags = map(bool, (program.sql, program.at, program.description, program.tags))
    count = min(len(assets.owned), 2)
    return (count, assets.scheme is None, frozenset(reads), frozenset(owned), *flags)


def _shape_of_dataset(dataset: Dataset) -> tuple[object, ...]:
    facts = (dataset.at, dataset.description, dataset.checks, dataset.owner, dataset.deadline, dataset.path)
    declared = any(True for _ in dataset.all_columns())
    return (dataset.format, dataset.partitions is None, declared, *map(bool, facts))


def _shape_of_schedule(schedule: Any) -> tuple[object, ...]:
    return (type(schedule.trigger), bool(schedule.owner), bool(schedule.deadline))


def is_alike(example: Packed, parts: Parts, sample: Part, crons: Collection[str]) -> bool:
    """Return whether all that an example has is made alike from the plan."""
    nodes = {tuple(node["asset_key"]["path"]): node for node in example[NODES]}
    checks = {(tuple(each["asset_key"]["path"]), each["name"]): each for each in example[CHECKS]}
    shown = {each["name"]: each for each in example[CRONS]}
    try:
        made = [node for program in sample.chosen for node in parts.of_program(program)]
        made += [parts.of_dataset(*each) for each in sample.beside]
        judged = [each for program in sample.chosen for each in parts.checks_of(program)]
        ticking = [(name, parts.cron(name)) for name in crons]
    except Unlike:
        return False
    same = all(nodes.get(path) == node for path, node in made)
    tested = {(path, name): check for path, name, check in judged} == checks
    return same and tested and all(shown.get(name) == cron for name, cron in ticking)


def is_job_alike(example: Packed, sample: Part) -> bool:
    """Return whether the job of an example is made alike from the plan, to the character."""
    try:
        text, _ = JobTexts(example).texts(sample.chosen)
    except Unlike:
        return False
    return text == json.dumps(example)


class PlannedRepository(RepositoryData):
    """The repository of a location whose definitions are made when they are needed."""

    def __init__(self, making: Making, example: RepositoryDefinition, text: Packed, job: Packed) -> None:
        """Args:
        example: a repository with a part of the assets, and all else.
        text: its snapshot.
        job: that of its job of all assets.
        """
        self._job = job
        self._making, self._example, self._text = making, example, text
        self._lock = Lock()
        self._crons = making.shown.crons
        self.of_programs = lru_cache(maxsize=PARTS_KEPT)(self._of_programs)

    @cached_property
    def _made(self) -> RepositoryDefinition:
        return self._making.everything.get_repository_def()

    @property
    def everything(self) -> RepositoryDefinition:
        """The repository with all definitions, made by the first who needs it."""
        with self._lock:
            return self._made

    @cached_property
    def job_texts(self) -> tuple[str, str]:
        """What is sent of the job of all assets, and the id of that job."""
        return JobTexts(self._job).texts(self._making.shown.plan.programs.values())

    def text(self) -> str:
        """Return the snapshot of the repository.

        Raises:
            Unlike: it cannot be made from the plan.
        """
        encode = msgspec.json.encode
        left_out = LeftOut(self._text)
        parts, short = Parts(left_out.example, self._making.shown), left_out.short
        nodes = sorted((path, encode(short(NODES, node))) for path, node in parts.nodes())
        checks = sorted((path, name, encode(check)) for path, name, check in parts.checks())
        others = [each for each in self._text[CRONS] if each["name"] not in self._crons.names]
        crons = sorted(
            [(each["name"], encode(each)) for each in others]
            + [(name, encode(short(CRONS, parts.cron(name)))) for name in self._crons.names]
        )
        lists = {NODES: nodes, CHECKS: checks, CRONS: crons}
        refs = [
            each | {"snapshot_id": self.job_texts[1]} if each["name"] == ALL_ASSETS_JOB else each
            for each in self._text["external_job_refs"]
        ]
        whole = self._text | {"external_job_refs": refs}
        pieces = [b'"__class__": ' + encode(whole.pop("__class__"))]
        for name, value in whole.items():
            listed = (
                b"[" + b",".join(each[-1] for each in lists[name]) + b"]" if name in lists else encode(value)
            )
            pieces.append(encode(name) + b": " + listed)
        return (b"{" + b", ".join(pieces) + b"}").decode()

    def part(self, assets: Collection[AssetKey]) -> RepositoryDefinition | None:
        """Return a repository with the programs of some assets; None for too many, or an unknown one."""
        known = self._making.shown.plan.program_of
        programs = {known[key].ref: known[key] for key in assets if key in known}
        if not programs or len(programs) > PART_MAX or any(key not in known for key in assets):
            return None
        return self.of_programs(tuple(sorted(programs)))

    def _of_programs(self, refs: tuple[str, ...]) -> RepositoryDefinition:
        plan = self._making.shown.plan
        programs = (plan.programs[Ref.of(ref)] for ref in refs)
        # By an external asset Dagster's default IO manager is another one, in every job of the location.
        beside = itertools.islice(plan.external(), 1)
        found = self._making.assets(part_of(programs, beside)).get_repository_def()
        # What the run of a part says of the job that it is a part of.
        vars(found.get_job(ALL_ASSETS_JOB))["get_job_snapshot_id"] = lambda: self.job_texts[1]
        return found

    def load_all_definitions(self) -> None:
        """Load nothing: what is needed is made under a lock."""

    def get_top_level_resources(self) -> Mapping[str, ResourceDefinition]:
        """Return the resources: none."""
        return self._example.get_top_level_resources()

    def get_env_vars_by_top_level_resource(self) -> Mapping[str, Any]:
        """Return what resources need: nothing."""
        return self._example.get_env_vars_by_top_level_resource()

    def get_job_names(self) -> Sequence[str]:
        """Return the names of all jobs."""
        return self._example.job_names

    def get_job(self, job_name: str) -> JobDefinition:
        """Return a job."""
        found = self.everything if job_name == ALL_ASSETS_JOB else self._example
        return found.get_job(job_name)

    def get_all_jobs(self) -> Sequence[JobDefinition]:
        """Return all jobs."""
        return self.everything.get_all_jobs()

    def get_schedule_names(self) -> Sequence[str]:
        """Return the names of all schedules."""
        own = (each.name for each in self._example.schedule_defs if each.name not in self._crons.names)
        return [*own, *self._crons.names]

    def get_schedule(self, schedule_name: str) -> ScheduleDefinition:
        """Return a schedule."""
        if schedule_name in self._crons.names:
            return self._crons.schedule(schedule_name, self._making.shown.plan)
        return self._example.get_schedule_def(schedule_name)

    def get_all_schedules(self) -> Sequence[ScheduleDefinition]:
        """Return all schedules."""
        return self.everything.schedule_defs

    def get_all_sensors(self) -> Sequence[SensorDefinition]:
        """Return all sensors."""
        return self._example.sensor_defs

    def get_source_assets_by_key(self) -> Mapping[AssetKey, Any]:
        """Return Dagster's older kind of external assets: none."""
        return self.everything.source_assets_by_key

    def get_assets_defs_by_key(self) -> Mapping[AssetKey, AssetsDefinition]:
        """Return all assets."""
        return self.everything.assets_defs_by_key

    def get_asset_checks_defs_by_key(self) -> Mapping[Any, Any]:
        """Return the checks that are apart from their assets: none."""
        return self.everything.asset_checks_defs_by_key

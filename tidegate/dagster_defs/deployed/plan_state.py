"""The part of the deployed plan that a run needs to reconstruct its definitions.

A code server reads the store once, when it starts. A run's process reconstructs the same
definitions later, perhaps while the store is unreachable or holds a newer plan, so Dagster
ships the apps with the run, each as a compressed text. A run decodes those that it needs: its cost does not
grow with the location. Schedules are not shipped, because no run needs them.
"""

import base64
import zlib
from collections.abc import Collection, Iterable, Mapping

import msgspec

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.dagster_defs.internals.load_context import DefinitionsLoadContext, DefinitionsLoadType
from tidegate.domain.model import App
from tidegate.domain.model.others import others_of_programs
from tidegate.domain.value import Value
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.engine_reader import EngineReader

NOTHING_DEPLOYED_TEXT = "nothing deployed, run `tidegate deploy`"
"""What Dagster shows of a code location without apps."""

METADATA_KEY = "tidegate/plan"
"""Key of the plan in the metadata that Dagster ships to each run."""


class LoadedApp(Value, frozen=True, kw_only=True):
    """An app in a code location.

    Attributes:
        revision: the revision of the deployment.
        ops: the names of the ops of its programs, by program; None where they are not computed yet.
    """

    app: App
    revision: int
    ops: Mapping[str, str] | None = None


class Plan(Value, frozen=True, kw_only=True):
    """The apps of a code location, by name.

    Attributes:
        apps: the apps of the location's project: their programs are loaded and launched here.
        others: the apps of other projects in the same store: their datasets may be read and waited for.
        hidden_reads: see `AssetPlan.hidden_reads`; None where they are not computed yet.
        project: the names of all apps of the project, where the plan was shipped: its `apps` may be those
            that a run needs only.
        prefix: how the names of its ops begin, where it is loaded in a code location of others.
    """

    apps: tuple[LoadedApp, ...]
    others: tuple[LoadedApp, ...] = ()
    hidden_reads: tuple[tuple[str, str], ...] | None = None
    project: frozenset[str] | None = None
    prefix: str = ""

    @property
    def everything(self) -> "Plan":
        """The plan with the apps of all projects, by which Dagster's event log is read."""
        return Plan(apps=tuple(sorted((*self.apps, *self.others), key=lambda each: each.app.name)))

    @property
    def own(self) -> frozenset[str]:
        """The names of the project's own apps."""
        return frozenset(self.own_revisions) if self.project is None else self.project

    @property
    def own_revisions(self) -> dict[str, int]:
        """The deployed revision of each of the project's own apps, by name."""
        return {loaded.app.name: loaded.revision for loaded in self.apps}

    @property
    def revisions(self) -> dict[str, int]:
        """The deployed revision of each app of all projects, by name."""
        return {loaded.app.name: loaded.revision for loaded in (*self.apps, *self.others)}

    @property
    def by_name(self) -> dict[str, App]:
        """The apps of all projects, by name."""
        return {loaded.app.name: loaded.app for loaded in (*self.apps, *self.others)}


def deployed_plan(reader: EngineReader, project: str) -> Plan:
    """Return the plan that is deployed now, for the code location of a project.

    Apps without an owner are loaded too.
    """
    rows = [(row.project, LoadedApp(app=row.app, revision=row.revision)) for row in reader.records(APPS)]
    own = (project, NO_PROJECT)
    return Plan(
        apps=tuple(loaded for owner, loaded in rows if owner in own),
        others=tuple(loaded for owner, loaded in rows if owner not in own),
    )


class _Shipped(Value, frozen=True, kw_only=True):
    """What is shipped: a `Plan` whose apps are texts of their own, by name."""

    apps: dict[str, str]
    others: dict[str, str]
    hidden_reads: tuple[tuple[str, str], ...] | None


def reconstructed_plan(needed: Collection[str] | None = None) -> Plan | None:
    """Return the plan that was shipped to this process; None in a process that must read the store.

    Args:
        needed: see `decode_plan`.
    """
    context = DefinitionsLoadContext.get()
    if context.load_type is not DefinitionsLoadType.RECONSTRUCTION:
        return None
    shipped = context.reconstruction_metadata.get(METADATA_KEY)
    return None if shipped is None else decode_plan(shipped, needed)


def ship(plan: Plan) -> str:
    """Register the plan with Dagster, which ships it to every run of the location; return it encoded."""
    text = encode_plan(plan)
    DefinitionsLoadContext.get().add_to_pending_reconstruction_metadata(METADATA_KEY, text)
    return text


def encode_plan(plan: Plan) -> str:
    """Encode the plan as JSON."""
    shipped = _Shipped(apps=_encoded(plan.apps), others=_encoded(plan.others), hidden_reads=plan.hidden_reads)
    return msgspec.json.encode(shipped).decode()


def decode_plan(text: str, needed: Collection[str] | None = None) -> Plan:
    """Decode a text written by `encode_plan`.

    Args:
        needed: the apps whose programs run here: the plan has these and those that they read; None for all.
    """
    shipped = msgspec.json.decode(text, type=_Shipped)
    texts = shipped.apps | shipped.others
    found = _decoded(texts, texts.keys() if needed is None else needed)
    if needed is not None:
        programs = (program for each in found.values() for program in each.app.programs.values())
        found |= _decoded(texts, others_of_programs(programs) - found.keys())
    return Plan(
        apps=tuple(found[name] for name in shipped.apps if name in found),
        others=tuple(found[name] for name in shipped.others if name in found),
        hidden_reads=shipped.hidden_reads,
        project=frozenset(shipped.apps),
    )


def _encoded(apps: Iterable[LoadedApp]) -> dict[str, str]:
    return {loaded.app.name: _encoded_app(loaded) for loaded in apps}


def _encoded_app(loaded: LoadedApp) -> str:
    bare = msgspec.structs.replace(loaded, app=msgspec.structs.replace(loaded.app, schedules={}))
    return base64.b64encode(zlib.compress(msgspec.json.encode(bare, order="sorted"))).decode()


def _decoded(texts: Mapping[str, str], names: Collection[str]) -> dict[str, LoadedApp]:
    return {
        name: msgspec.json.decode(zlib.decompress(base64.b64decode(texts[name])), type=LoadedApp)
        for name in names
        if name in texts
    }

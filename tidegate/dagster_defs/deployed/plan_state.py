"""The part of the deployed plan that a run needs to reconstruct its definitions.

A code server reads the store once, when it starts. A run's process reconstructs the same
definitions later, perhaps while the store is unreachable or holds a newer plan, so Dagster
ships the apps with the run, as one compressed text. Schedules are not shipped: a run does not
need them.
"""

import base64
import zlib

import msgspec

# Not exported by `dagster`: its documented way to distinguish a run's process from a code server.
from dagster._core.definitions.definitions_load_context import (
    DefinitionsLoadContext,
    DefinitionsLoadType,
)

from tidegate.compiler.plan.ownership import NO_PROJECT
from tidegate.domain.model import App
from tidegate.domain.value import Value
from tidegate.scheduler.store.protocol import Reader

NOTHING_DEPLOYED_TEXT = "nothing deployed, run `tidegate deploy`"
"""What Dagster shows of a code location without apps."""

METADATA_KEY = "tidegate/apps"
"""Key of the apps in the metadata that Dagster ships to each run."""


class LoadedApp(Value, frozen=True, kw_only=True):
    """An app in a code location. `revision` is the revision of the deployment."""

    app: App
    revision: int


class Plan(Value, frozen=True, kw_only=True):
    """The apps of a code location, by name.

    Attributes:
        apps: the apps of the location's project: their programs are loaded and launched here.
        others: the apps of other projects in the same store: their datasets may be read and waited for.
        hidden_reads: see `AssetPlan.hidden_reads`; None where they are not computed yet.
    """

    apps: tuple[LoadedApp, ...]
    others: tuple[LoadedApp, ...] = ()
    hidden_reads: tuple[tuple[str, str], ...] | None = None

    @property
    def everything(self) -> "Plan":
        """The plan with the apps of all projects, by which Dagster's event log is read."""
        return Plan(apps=tuple(sorted((*self.apps, *self.others), key=lambda each: each.app.name)))

    @property
    def own(self) -> frozenset[str]:
        """The names of the project's own apps."""
        return frozenset(self.own_revisions)

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


def deployed_plan(reader: Reader, project: str) -> Plan:
    """Return the plan that is deployed now, for the code location of a project.

    Apps without an owner are loaded too: those of a store that an older version wrote.
    """
    rows = [(row.project, LoadedApp(app=row.app, revision=row.revision)) for row in reader.apps()]
    own = (project, NO_PROJECT)
    return Plan(
        apps=tuple(loaded for owner, loaded in rows if owner in own),
        others=tuple(loaded for owner, loaded in rows if owner not in own),
    )


def reconstructed_plan() -> Plan | None:
    """Return the plan that was shipped to this process; None in a process that must read the store."""
    context = DefinitionsLoadContext.get()
    if context.load_type is not DefinitionsLoadType.RECONSTRUCTION:
        return None
    shipped = context.reconstruction_metadata.get(METADATA_KEY)
    return None if shipped is None else decode_plan(shipped)


def ship(plan: Plan) -> str:
    """Register the plan with Dagster, which ships it to every run of the location being loaded.

    Returns:
        The encoded plan.
    """
    text = encode_plan(plan)
    DefinitionsLoadContext.get().add_to_pending_reconstruction_metadata(METADATA_KEY, text)
    return text


def encode_plan(plan: Plan) -> str:
    """Encode the plan as text that is safe inside JSON."""
    without_schedules = msgspec.structs.replace(plan, apps=_bare(plan.apps), others=_bare(plan.others))
    return base64.b64encode(zlib.compress(msgspec.json.encode(without_schedules, order="sorted"))).decode()


def _bare(apps: tuple[LoadedApp, ...]) -> tuple[LoadedApp, ...]:
    return tuple(
        msgspec.structs.replace(loaded, app=msgspec.structs.replace(loaded.app, schedules={}))
        for loaded in apps
    )


def decode_plan(text: str) -> Plan:
    """Decode a text written by `encode_plan`."""
    return msgspec.json.decode(zlib.decompress(base64.b64decode(text)), type=Plan)

"""The given actions of a scenario, carried out by the same functions that the commands use.

Partitions and runs are reported, people act by `scheduler.commands.by_hand.manual`, and `update`, `delete`,
`deploy` and `disable` are deployments. A refused action becomes a moment that a scenario can expect.
"""

from collections.abc import Callable, Mapping
from typing import Any, assert_never, cast

import msgspec

from tidegate.compiler.compile import compile_files
from tidegate.compiler.compile_one import compile_schedule, compile_task
from tidegate.compiler.diagnostics.diagnostic import Diagnostic
from tidegate.compiler.plan.blocked import second_maintenance
from tidegate.compiler.scenarios.model.maintenance import (
    DisablePolicy,
    MaintainByHand,
    OperationEnds,
    TableWritten,
)
from tidegate.compiler.scenarios.model.scenario import (
    Delete,
    Deploy,
    Down,
    EndWithheld,
    FailLaunch,
    Given,
    PartitionsArrive,
    Replay,
    ReportGauges,
    Restart,
    Resume,
    RunSeen,
    Suspend,
    TriggerByHand,
    Update,
)
from tidegate.compiler.scenarios.model.tasks import (
    ActOnInstance,
    CancelBackfill,
    ReportInstances,
    ResumeBackfill,
    StartBackfill,
)
from tidegate.compiler.scope.formats import Formats, deployed_formats
from tidegate.compiler.scope.project_files import ReadFile, no_files
from tidegate.domain.model import App, OnUpdate
from tidegate.domain.model.others import with_others
from tidegate.domain.model.table_format import LANDED, DatasetFormat
from tidegate.domain.part_name import app_of, name_in, whole_name
from tidegate.domain.time.expiry import Until, until_after
from tidegate.scheduler.commands.by_hand.manual import resume, suspend, trigger
from tidegate.scheduler.commands.deployment.deploy import deploy
from tidegate.scheduler.commands.deployment.deployed_rows import deployed_apps
from tidegate.scheduler.commands.deployment.live import difference
from tidegate.scheduler.commands.deployment.schedules import put_schedule
from tidegate.scheduler.commands.existing_events import EventsToReplay, replay_events
from tidegate.scheduler.commands.gauge import report_gauges
from tidegate.scheduler.intake.observe import RunObservation
from tidegate.scheduler.model.event import Event, EventKind, partition_event_key
from tidegate.scheduler.model.refused import InstanceRefused, MaintenanceRefused, Refused
from tidegate.scheduler.model.run import RunStatus
from tidegate.scheduler.simulation.arrivals import arrivals
from tidegate.scheduler.simulation.describe import describe
from tidegate.scheduler.simulation.moment import Moment
from tidegate.scheduler.simulation.simulation import Simulation
from tidegate.scheduler.simulation.table_actions import act_on_tables
from tidegate.scheduler.simulation.task_actions import BY, act_on_tasks

UNKNOWN_SCHEDULE = "N305"
UNKNOWN_DATASET = "N301"
WRONG_KEY = "V205"
UNKNOWN_POLICY = "E-POLICY"
SECOND_MAINTENANCE = "N318"
REMOVED_PART = {"datasets": "N301", "programs": "N302", "tasks": "N316"}
"""Codes of a deployment that is refused because remaining schedules or tasks need what it removes."""


class ActionRefused(Exception):
    """A given action that is refused, with its codes."""

    def __init__(self, codes: tuple[str, ...], message: str) -> None:
        super().__init__(message)
        self.codes = codes


class ActionRunner:
    """Carries out given actions on a simulation.

    Args:
        app: name of the app under test.
        document: its YAML as builtin values; updates are merged over the schedules in it.
        read_file: the contents of a file beside the app's own.
        on_update: the default of schedules that a deployment brings.
        default_format: the format of datasets that a deployment brings and that name none.
        variables, project: the values of `${env.NAME}` in files, and the files that these name.
    """

    def __init__(
        self,
        simulation: Simulation,
        app: str,
        document: Mapping[str, Any],
        read_file: Callable[[str], bytes],
        on_update: OnUpdate = "reset",
        default_format: DatasetFormat = LANDED,
        variables: Mapping[str, str] | None = None,
        project: ReadFile = no_files,
    ) -> None:
        self._simulation = simulation
        self._app = app
        self._specs = _specs_of(document)
        self._read_file = read_file
        self._on_update: OnUpdate = on_update
        self._default_format: DatasetFormat = default_format
        self._variables, self._project = variables, project
        self._events = 0

    def do(self, given: Given) -> None:
        """Carry out one action at the simulation's current instant."""
        name, described = describe(given)
        self._simulation.moments.append(Moment(when=given.when, kind="given", schedule=name, text=described))
        try:
            self._act(given)
        except ActionRefused as refusal:
            self._refuse(given, name, refusal.codes, str(refusal))
        except (InstanceRefused, MaintenanceRefused) as refusal:
            self._refuse(given, name, (refusal.code,), refusal.message)
        except Refused as refusal:
            code = WRONG_KEY if self._is_deployed(name) else UNKNOWN_SCHEDULE
            self._refuse(given, name, (code,), refusal.message)

    def _refuse(self, given: Given, name: str, codes: tuple[str, ...], message: str) -> None:
        self._simulation.moments.append(
            Moment(when=given.when, kind="refused", schedule=name, reason=" ".join(codes), text=message)
        )

    def _act(self, given: Given) -> None:
        simulation, now, action = self._simulation, given.when, given.action
        match action:
            case PartitionsArrive():
                self._events += 1
                simulation.report(*arrivals(self._app, action, now, self._events))
            case RunSeen():
                simulation.report(*self._outputs(given, action), self._observation(given, action))
            case Suspend(schedule=schedule, expires=expires) | Resume(schedule=schedule, expires=expires):
                switch = suspend if isinstance(action, Suspend) else resume
                with simulation.store.transaction() as transaction:
                    switch(transaction, self._ref(schedule), now, BY, until_after(now, expires))
            case TriggerByHand(schedule=schedule, key=key, force=force):
                with simulation.store.transaction() as transaction:
                    trigger(transaction, self._ref(schedule), now, key, force, by=BY)
            case Replay():
                self._replay(action)
            case Update(changes=changes, expires=expires):
                self._update(changes, until_after(now, expires))
            case Delete(schedule=schedule):
                self._delete(schedule)
            case Deploy():
                self._deploy(action)
            case ReportGauges(values=values):
                with simulation.store.transaction() as transaction:
                    report_gauges(transaction, values, now, BY)
            case Restart():
                simulation.world.restart()
            case Down(duration=duration):
                simulation.go_down(now + duration)
            case FailLaunch(schedule=schedule, times=times):
                simulation.world.fail_next(self._ref(schedule), times)
            case EndWithheld():
                simulation.report(*simulation.world.publishes.act(action, self._app, now))
            case ActOnInstance() | ReportInstances() | StartBackfill() | CancelBackfill() | ResumeBackfill():
                with simulation.store.transaction() as transaction:
                    act_on_tasks(transaction, self._app, action, now)
            case DisablePolicy(policy=policy):
                self._disable(name_in(self._app, policy))
            case TableWritten() | OperationEnds() | MaintainByHand():
                act_on_tables(simulation.store, simulation.world.tables, self._app, action, now)
            case _:
                assert_never(action)

    def _is_deployed(self, schedule: str) -> bool:
        with self._simulation.store.reading() as reader:
            return bool(reader.schedules(refs=(self._ref(schedule),)))

    def _ref(self, schedule: str) -> str:
        return f"{self._app}/{schedule}"

    def _observation(self, given: Given, action: RunSeen) -> RunObservation:
        return RunObservation(
            run_id=action.id,
            program=whole_name(self._app, action.program),
            status=RunStatus(action.status),
            at=given.when,
            args=action.args,
            outputs={self._name_of(action, dataset): keys for dataset, keys in action.outputs.items()},
        )

    def _name_of(self, action: RunSeen, dataset: str) -> str:
        """Return the name of a run's output in the app of its program."""
        return name_in(app_of(whole_name(self._app, action.program)), whole_name(self._app, dataset))

    def _outputs(self, given: Given, action: RunSeen) -> list[Event]:
        """Return the events of the partitions that a successful external run has written."""
        if action.status != RunStatus.SUCCEEDED:
            return []
        return [
            Event(
                id=f"written:{action.id}:{dataset}:{key}",
                kind=EventKind.PARTITION,
                key=partition_event_key(self._app, dataset),
                time=given.when,
                arrived=given.when,
                partition=key,
                run_id=action.id,
            )
            for dataset, keys in action.outputs.items()
            for key in keys
        ]

    def _replay(self, action: Replay) -> None:
        key = partition_event_key(self._app, action.dataset)
        try:
            with self._simulation.store.transaction() as transaction:
                wanted = EventsToReplay(key=key, partitions=tuple(action.keys), again=action.again)
                replay_events(transaction, wanted, self._simulation.now, BY)
        except Refused as refusal:
            raise ActionRefused((UNKNOWN_DATASET,), refusal.message) from refusal

    # --- deployments ---

    def _deployed(self) -> dict[str, App]:
        with self._simulation.store.reading() as reader:
            return deployed_apps(reader)

    def _update(self, changes: Mapping[str, dict[str, Any]], until: Until | None) -> None:
        apps = self._deployed()
        app = apps[self._app]
        specs = dict(self._specs)
        for name, change in changes.items():
            if name not in app.schedules:
                raise ActionRefused((UNKNOWN_SCHEDULE,), f"no schedule {name} is deployed")
            specs[name] = merged(specs.get(name, {}), change)
            task = app.schedules[name].task is not None
            schedule, diagnostics = (compile_task if task else compile_schedule)(
                with_others(app, apps.values()),
                name,
                specs[name],
                app.schedules[name].at,
                self._on_update,
            )
            if schedule is None:
                raise _wrong(diagnostics)
            app = msgspec.structs.replace(app, schedules={**app.schedules, name: schedule})
        if until is not None:
            with self._simulation.store.transaction() as transaction:
                for spec in map(app.schedules.__getitem__, changes):
                    put_schedule(transaction, self._app, spec, self._simulation.now, BY, until)
            return
        self._carry_out({**apps, self._app: app})
        self._specs = specs

    def _delete(self, schedule: str) -> None:
        apps = self._deployed()
        app = apps[self._app]
        if schedule not in app.schedules:
            raise ActionRefused((UNKNOWN_SCHEDULE,), f"no schedule {schedule} is deployed")
        kept = {name: spec for name, spec in app.schedules.items() if name != schedule}
        # As with --force: tasks that have waited for it run without it.
        self._carry_out({**apps, self._app: msgspec.structs.replace(app, schedules=kept)}, force=True)

    def _deploy(self, action: Deploy) -> None:
        file = action.file or "deploy"
        content = self._read_file(action.file) if action.file else (action.text or "").encode()
        before = self._deployed()
        formats = Formats(default=self._default_format, deployed=deployed_formats(before.values()))
        compilation = compile_files(
            {file: content},
            on_update=self._on_update,
            formats=formats,
            known=lambda: before,
            variables=self._variables,
            read_file=self._project,
        )
        if not compilation.ok:
            raise _wrong(compilation.diagnostics)
        models = compilation.models()
        others = {name: app for name, app in before.items() if name not in models}
        for blocked in second_maintenance(models, others):
            raise ActionRefused((SECOND_MAINTENANCE,), blocked.summary)
        self._carry_out({**before, **models}, action.update_schedules)
        if action.update_schedules and self._app in compilation.apps:
            document = compilation.apps[self._app].document
            self._specs = {**self._specs, **_specs_of(document)}

    def _disable(self, policy: str) -> None:
        apps = self._deployed()
        app = apps[self._app]
        if policy not in app.policies:
            raise ActionRefused((UNKNOWN_POLICY,), f"no policy {policy} is deployed")
        disabled = msgspec.structs.replace(app.policies[policy], enabled=False)
        policies = {**app.policies, policy: disabled}
        self._carry_out({**apps, self._app: msgspec.structs.replace(app, policies=policies)})

    def _carry_out(
        self, wanted: Mapping[str, App], update_schedules: bool = True, *, force: bool = False
    ) -> None:
        with self._simulation.store.transaction() as transaction:
            refusals = difference(transaction, wanted, update_schedules=update_schedules).refusals
            if refusals and not force:
                codes = tuple(dict.fromkeys(REMOVED_PART[refusal.section] for refusal in refusals))
                parts = ", ".join(f"{refusal.section[:-1]} {refusal.name}" for refusal in refusals)
                raise ActionRefused(codes, f"remaining schedules need what would be removed: {parts}")
            deploy(transaction, wanted, self._simulation.now, update_schedules, force=force, by=BY)


def _specs_of(document: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the schedules and tasks of an app's YAML, by name."""
    return {**(document.get("schedules") or {}), **(document.get("tasks") or {})}


def _wrong(diagnostics: tuple[Diagnostic, ...]) -> ActionRefused:
    errors = [each for each in diagnostics if each.severity == "error"]
    codes = tuple(dict.fromkeys(each.code for each in errors))
    return ActionRefused(codes, "; ".join(each.summary for each in errors))


def merged(spec: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Merge a change over a specification: mappings merge, null removes a key, other values replace."""
    found = dict(spec)
    for key, value in change.items():
        before = found.get(key)
        if value is None:
            found.pop(key, None)
        elif isinstance(value, dict) and isinstance(before, dict):
            found[key] = merged(cast("dict[str, Any]", before), cast("dict[str, Any]", value))
        else:
            found[key] = value
    return found

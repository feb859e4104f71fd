"""`tidegate deploy`: deploys the project's YAML to the schedule store, in one transaction.

Apps of other projects in the same store are not changed. An app of the project that is no longer in the
folder is removed with `--remove-apps`, or after confirmation at a terminal; otherwise it remains, the
output reports it, and the exit code is 0. At a terminal it asks before it deletes schedules or discards
jobs. Nothing is deployed while the YAML has errors, and a deployment that would remove the trigger of a
remaining schedule is refused. `--plan FILE` deploys what a saved plan has shown, or nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli.by_hand import by_hand
from tidegate.cli.checked_yaml import LocationsOption, RequireLocationsOption
from tidegate.cli.develop.agreement import NotAgreed, YesOption, at_terminal, require_agreement, taken_away
from tidegate.cli.develop.difference import print_difference
from tidegate.cli.develop.plan import (
    AppOption,
    ImportsOption,
    RemoveOption,
    UpdateOption,
    checked_apps,
    own_apps,
    project_scope,
    waiting_for_host,
)
from tidegate.cli.printing import Format, FormatOption, ReasonOption
from tidegate.domain.part_name import app_of
from tidegate.domain.value import without_collection

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.compiler.plan.ownership import Scope
    from tidegate.domain.model import App
    from tidegate.project.saved_plan import Options, SavedPlan
    from tidegate.project.settings.settings import Settings
    from tidegate.scheduler.explain.operations.coverage import Known
    from tidegate.scheduler.model.journal import By
    from tidegate.scheduler.store.engine_reader import EngineReader
    from tidegate.scheduler.store.protocol import Store


@without_collection()
def deploy(
    update_schedules: UpdateOption = None,
    app: AppOption = None,
    remove_apps: RemoveOption = False,
    imports: ImportsOption = None,
    locations: LocationsOption = None,
    require_locations: RequireLocationsOption = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Deploy even if schedules lose their trigger or upstream task, or share folders."
        ),
    ] = False,
    plan: Annotated[
        Path | None,
        typer.Option(help="Deploy what `plan --out FILE` has shown, or nothing.", metavar="FILE"),
    ] = None,
    yes: YesOption = False,
    reason: ReasonOption = "",
    format: FormatOption = Format.TEXT,
) -> None:
    """Deploy the YAML to the schedule store; print the changes."""
    from tidegate.cli.opened_store import opened_store
    from tidegate.project.saved_plan import Options, read_plan
    from tidegate.project.settings.settings import load_settings
    from tidegate.scheduler.explain.operations.coverage import coverage

    saved = None
    if plan is not None:
        if update_schedules is not None or app or remove_apps or force:
            raise typer.BadParameter("the plan says what is deployed: leave out the other options")
        saved = read_plan(plan)
    settings = load_settings()
    update = settings.update_schedules if update_schedules is None else update_schedules
    options = Options(update_schedules=update, app=own_apps(settings, app), remove_apps=remove_apps)
    options = options if saved is None else saved.options
    checked = checked_apps(
        settings,
        format,
        imports=imports,
        locations=locations,
        require_locations=require_locations,
        removed=options.app if options.remove_apps else (),
    )
    deployment = Deployment(
        settings=settings,
        wanted=checked.apps,
        digests=checked.digests,
        options=options,
        saved=saved,
        force=force,
        by=by_hand(reason),
    )
    with opened_store(settings, create=True) as store:
        ask = saved is None and not yes and at_terminal(format)
        applied, known = asked(deployment, store) if ask else deployment.carried_out(store)
        with store.reading() as reader:
            waiting = waiting_for_host(reader, settings, checked.apps)
    print_difference(applied, format, covered=coverage(known, applied), waiting=waiting)


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """A deployment of the project's YAML.

    Attributes:
        digests: of the wanted apps, as far as they are known.
        saved: the plan that it has to be.
    """

    settings: "Settings"
    wanted: "Mapping[str, App]"
    digests: "Mapping[str, str]"
    options: "Options"
    saved: "SavedPlan | None"
    force: bool
    by: "By"

    def scope(self, reader: "EngineReader") -> "Scope":
        """Return what of the store it may change."""
        only, remove = self.options.app, self.options.remove_apps
        return project_scope(reader, self.settings, self.wanted, only, remove)

    def difference(self, reader: "EngineReader", scope: "Scope") -> "Diff":
        """Return what it would change."""
        from tidegate.scheduler.commands.deployment.live import compared

        update = self.options.update_schedules
        return compared(
            reader, self.wanted, update_schedules=update, scope=scope, digests=self.digests
        ).changes

    def carried_out(
        self, store: "Store", scope: "Scope | None" = None, agreed: tuple[str, ...] | None = None
    ) -> "tuple[Diff, Known]":
        """Carry it out in one transaction; return the difference, and the tables that were known before.

        Args:
            agreed: what a person agreed to lose; None for a deployment without a question.

        Raises:
            PlanMoved: the saved plan no longer holds.
            NotAgreed: something else would be lost than what was agreed to.
        """
        from tidegate.compiler.render.diff_json import diff_json
        from tidegate.project.saved_plan import basis_of, check, check_shown
        from tidegate.scheduler.commands.deployment.deploy import deploy as deploy_apps
        from tidegate.scheduler.commands.deployment.deployed_rows import deployed_rows
        from tidegate.scheduler.explain.operations.coverage import load_known

        with store.transaction() as transaction:
            scope = self.scope(transaction) if scope is None else scope
            if self.saved is not None:
                check(self.saved, basis_of(self.settings, self.wanted, transaction))
            deployed = deployed_rows(transaction, self.wanted, self.digests).apps
            now, known = datetime.now(UTC), load_known(transaction, self.wanted, deployed)
            applied = deploy_apps(
                transaction,
                self.wanted,
                now,
                update_schedules=self.options.update_schedules,
                force=self.force,
                scope=scope,
                by=self.by,
                assume_published=False,
                digests=self.digests,
            )
            if self.saved is not None:
                check_shown(self.saved, diff_json(applied))
            if agreed is not None and taken_away(applied) != agreed:
                raise NotAgreed(taken_away(applied))
        return applied, known


def asked(deployment: Deployment, store: "Store") -> "tuple[Diff, Known]":
    """Ask a person whether what is gone afterwards may be lost, and carry the deployment out.

    Raises:
        typer.Abort: the person declines; nothing has been changed.
    """
    import msgspec

    with store.reading() as reader:
        scope = deployment.scope(reader)
        all_of_it = msgspec.structs.replace(scope, removable=None)
        removal = removed_apps(deployment.difference(reader, all_of_it))
    if removal.apps and not deployment.options.remove_apps and confirmed(removal):
        # These and no others: the store may have changed since the question.
        scope = msgspec.structs.replace(scope, removable=frozenset(each.name for each in removal.apps))
    removed = {each.name for each in removal.apps}
    lines: tuple[str, ...] = ()
    while True:
        try:
            return deployment.carried_out(store, scope, lines)
        except NotAgreed as other:
            lines = other.lines
            if deployment.options.remove_apps or any(app_of(each) not in removed for each in lines):
                require_agreement(lines, "Deploy it?")


def removed_apps(difference: "Diff") -> "Diff":
    """The part of a difference that removes apps."""
    import msgspec

    gone = tuple(change for change in difference.apps if change.action == "delete")
    return msgspec.structs.replace(difference, apps=gone, refusals=(), taken=(), adopted=())


def confirmed(removal: "Diff") -> bool:
    """Ask whether apps are to be removed."""
    print_difference(removal, Format.TEXT)
    names = ", ".join(change.name for change in removal.apps)
    return typer.confirm(f"The YAML does not have {names}. Remove what is listed above?")

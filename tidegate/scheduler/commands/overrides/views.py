"""The overrides of a difference: for `plan`, and for what a deployment prints."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.override_change import OverrideChange, ThreeViews, three_views
from tidegate.compiler.plan.part_change import form_of
from tidegate.domain.model import App, Schedule
from tidegate.scheduler.decision.changes.overrides import fates
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.records.override import Override


def override_changes(
    known: Iterable[Override],
    changes: Diff,
    states: Mapping[str, ScheduleState],
    wanted: Mapping[str, App],
) -> Iterator[OverrideChange]:
    """Yield the overrides of the apps of a difference.

    Args:
        states: the deployed schedules by ref, under the names of the difference.
        wanted: the apps of the YAML, by name.
    """
    names = {app.name for app in changes.apps}
    for each, fate in fates([each for each in known if each.app in names], changes):
        app, state = wanted.get(each.app), states.get(each.ref)
        git = None if app is None else app.schedules.get(each.name)
        yield OverrideChange(
            ref=each.ref,
            kind=each.kind,
            owner=each.owner,
            reason=each.reason,
            since=each.since,
            expires_at=each.expires_at,
            fate=fate,
            fields=tuple(_fields(each, git, state)),
        )


def _fields(override: Override, git: Schedule | None, state: ScheduleState | None) -> Iterator[ThreeViews]:
    if override.kind == "status" and state is not None:
        yield ThreeViews(
            path="status",
            git=None if git is None else git.status,
            deployed=override.status,
            override=state.status,
        )
    if override.kind == "specification" and state is not None:
        yield from three_views(_form(git), _form(override.spec), _form(state.spec))


def _form(spec: Schedule | None) -> dict[str, Any] | None:
    return None if spec is None else form_of(spec)

"""Overrides as all faces show them, and the list of them."""

from collections.abc import Iterable, Iterator

from tidegate.compiler.plan.override_change import three_views
from tidegate.compiler.plan.part_change import form_of
from tidegate.compiler.render.written import written_schedule
from tidegate.listings.overrides import OverriddenField, Override, RevertsTo
from tidegate.listings.read import Asked
from tidegate.scheduler.explain.overrides import overridden_as, reverted_to
from tidegate.scheduler.model.deployed import ScheduleState
from tidegate.scheduler.model.records import override as engine
from tidegate.scheduler.store.engine_reader import EngineReader


def list_overrides(asked: Asked) -> list[Override]:
    """Return what was changed by hand."""
    found = asked.reader.records(engine.OVERRIDES, app=asked.wanted.get("app"))
    return public_overrides(asked.reader, [each for each in found if asked.sees(each.app)])


def public_overrides(reader: EngineReader, overrides: Iterable[engine.Override]) -> list[Override]:
    """Return what of overrides all faces show, with the fields at which their schedules differ."""
    found = tuple(overrides)
    states = {state.ref: state for state in reader.schedules(refs=[each.ref for each in found])}
    return [_public(each, states.get(each.ref)) for each in found]


def _public(override: engine.Override, state: ScheduleState | None) -> Override:
    spec = None if override.spec is None else written_schedule(override.spec)
    return Override(
        app=override.app,
        schedule=None if override.kind == "held" else override.name,
        kind=override.kind,
        override=overridden_as(override),
        owner=override.owner,
        reason=override.reason,
        since=override.since,
        expires_at=override.expires_at,
        reverts=reverted_to(override),
        reverts_to=RevertsTo(status=override.status, specification=spec),
        fields=() if state is None else tuple(_fields(override, state)),
    )


def _fields(override: engine.Override, state: ScheduleState) -> Iterator[OverriddenField]:
    if override.kind == "status":
        yield OverriddenField(path="status", deployed=override.status, override=state.status)
    elif override.kind == "specification" and override.spec is not None:
        base = form_of(override.spec)
        for each in three_views(base, base, form_of(state.spec)):
            yield OverriddenField(path=each.path, deployed=each.deployed, override=each.override)

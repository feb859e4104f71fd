"""The selection of a program (`assets:`) in the loaded locations: unknown names, and no asset at all."""

from collections.abc import Iterable, Iterator

from dagster import AssetKey, AssetSelection, DagsterError

from tidegate.dagster_defs.compare.question import Fault
from tidegate.dagster_defs.existing.loaded import Target, nothing_selected
from tidegate.dagster_defs.existing.request import KEYS_SHOWN
from tidegate.dagster_defs.internals.remote_jobs import CodeLocation
from tidegate.dagster_defs.internals.selections import (
    AndAssetSelection,
    ChainedAssetSelection,
    KeysAssetSelection,
    KeyWildCardAssetSelection,
    OrAssetSelection,
    SubtractAssetSelection,
)
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import first_of, shown


def selection_faults(
    selection: str, locations: Iterable[CodeLocation], found: Iterable[Target]
) -> list[Fault]:
    """Return what is wrong with a selection: names of no asset, or nothing at all."""
    places = list(locations)
    known = {
        key
        for place in places
        for repository in place.get_repositories().values()
        for key in repository.asset_graph.get_all_asset_keys()
    }
    names = {key.to_user_string() for key in known}
    where = f"location {places[0].name}" if len(places) == 1 else "the locations"
    lacking = f"{where} has no such" if len(places) == 1 else "no location has such an"
    faults = [
        Fault(
            code="N334",
            key="assets",
            summary=f"{lacking} asset, got {shown(name)}",
            hint=did_you_mean(name, names, "assets"),
        )
        for name in _named(selection)
        if AssetKey.from_user_string(name) not in known
    ]
    if faults or any(found):
        return faults
    nothing = nothing_selected(selection, where)
    summary = f"a selection has an asset of {where}, got {shown(selection)}, which matches nothing"
    hint = nothing.hint
    if _read(selection) is None:
        hint = f"{hint}; inside an expression a name is written as key:NAME"
    return [Fault(code="N335", key="assets", summary=summary, hint=hint)]


def one_run_faults(target: Target, problem: str, hint: str) -> Iterator[Fault]:
    """Yield why no run can have all assets of a selection."""
    graph = target.repository.asset_graph
    keys = sorted(key.to_user_string() for key in target.keys if not graph.get(key).is_executable)
    if keys:
        summary = f"{target.name} has no code that makes it, got {first_of(keys, KEYS_SHOWN)}"
        yield Fault(code="N334", key="assets", summary=summary, hint=hint)
    else:
        yield Fault(code="N336", key="assets", summary=problem, hint=hint)


def _named(selection: str) -> list[str]:
    """Return the keys that a selection names without a wildcard; none where Dagster cannot read it."""
    read = _read(selection)
    return [] if read is None else list(dict.fromkeys(_keys(read)))


def _read(selection: str) -> AssetSelection | None:
    try:
        return AssetSelection.from_string(selection)
    except DagsterError:
        return None


def _keys(selection: AssetSelection) -> Iterator[str]:
    match selection:
        case KeysAssetSelection():
            yield from (key.to_user_string() for key in selection.selected_keys)
        case KeyWildCardAssetSelection():
            if "*" not in selection.selected_key_wildcard:
                yield selection.selected_key_wildcard
        case AndAssetSelection() | OrAssetSelection():
            for each in selection.operands:
                yield from _keys(each)
        case SubtractAssetSelection():
            yield from _keys(selection.left)
            yield from _keys(selection.right)
        case ChainedAssetSelection():
            yield from _keys(selection.child)
        case _:
            pass

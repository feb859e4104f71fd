"""What a deployment leaves behind in the store: watermarks, by which a program knows what it has read.

A program that loses its watermarks reads its source from the beginning, and appends all of it once more.
Watermarks belong to names and partition keys: a program or source that is renamed without
`renamed_from`, and partitions that are cut in another way, leave theirs behind. Pure.
"""

from collections.abc import Iterator, Mapping, Sequence

from tidegate.compiler.plan.part_change import keeps_keys
from tidegate.domain.model import App, Dataset, PartitionScheme
from tidegate.domain.model.others import part_of
from tidegate.domain.part_name import Ref, app_of, name_of, whole_name
from tidegate.domain.partition_key import validate_key
from tidegate.domain.value import Value

Watermarked = Mapping[tuple[str, str], Sequence[str]]
"""The parts that have watermarks, by consumer ("app/program") and source ("app/dataset")."""

WHOLE = ""
"""The part of a watermark that counts for the whole source."""


class LeftBehind(Value, kw_only=True):
    """Watermarks that nothing uses after the deployment.

    Attributes:
        consumer, source: the names that they have.
        parts: number of parts.
        again: what reads again from the beginning, as "app/program of app/dataset"; empty for nothing.
        remedy: how to keep them.
        output: if they stay, a table that the program has not written: it begins after them.
    """

    consumer: str
    source: str
    parts: int
    again: tuple[str, ...] = ()
    remedy: str = ""
    output: str = ""


def left_behind(
    before: Mapping[str, App], after: Mapping[str, App], watermarked: Watermarked
) -> Iterator[LeftBehind]:
    """Yield the watermarks that a deployment leaves behind.

    Args:
        before: the deployed apps, under their new names.
        after: the apps after the deployment; an app that is missing is removed.
    """
    if not watermarked:
        return
    used, wanted = _reads(before), _reads(after)
    fresh = [pair for pair in sorted(wanted) if pair not in watermarked]
    for (consumer, source), parts in watermarked.items():
        if (consumer, source) not in used:
            continue
        if (consumer, source) not in wanted:
            heirs = [pair for pair in fresh if _may_go_on((consumer, source), pair)]
            yield LeftBehind(
                consumer=consumer,
                source=source,
                parts=len(parts),
                again=tuple(f"{program} of {dataset}" for program, dataset in heirs),
                remedy=_remedy(consumer, source, heirs),
            )
            continue
        yield from _new_outputs(before, after, consumer, source, len(parts))
        lost = _lost(_scheme(before, source), _scheme(after, source), parts)
        if lost:
            yield LeftBehind(
                consumer=consumer,
                source=source,
                parts=lost,
                again=(f"{consumer} of {source}",),
                remedy=f"keep the partitions of {source}, or give the new ones to a new dataset",
            )


def _new_outputs(
    before: Mapping[str, App], after: Mapping[str, App], consumer: str, source: str, parts: int
) -> Iterator[LeftBehind]:
    """Yield the outputs of a program that begin with what lands from now on: renamed, moved or added ones."""
    old, new = _outputs(before, consumer), _outputs(after, consumer)
    gone = sorted({ref for ref, *_ in old - new} - {ref for ref, *_ in new})
    again = f"to read all of it again: tidegate watermarks reset {consumer} {source}"
    for ref, *_ in sorted(new - old, key=str):
        renamed = name_of(gone[0]) if gone else ""
        hint = f"if {ref} is {renamed} renamed, write `renamed_from: {renamed}` in it; " if renamed else ""
        yield LeftBehind(consumer=consumer, source=source, parts=parts, remedy=hint + again, output=ref)


def _outputs(apps: Mapping[str, App], consumer: str) -> set[tuple[str, str, str | None]]:
    """Return the tables that a program writes: their names, and what makes another table of the same name."""
    app, program = app_of(consumer), part_of(apps, "programs", consumer)
    found = [] if program is None else [apps[app].datasets.get(one) for one in program.writes]
    return {(whole_name(app, one.name), one.format, one.path) for one in found if one is not None}


def _reads(apps: Mapping[str, App]) -> set[tuple[str, str]]:
    return {
        (f"{app.name}/{program.name}", source if "/" in source else f"{app.name}/{source}")
        for app in apps.values()
        for program in app.programs.values()
        for source in program.incremental
    }


def _may_go_on(old: tuple[str, str], new: tuple[str, str]) -> bool:
    """Return whether a new read may be the old one under another name: half of it is the same."""
    same_name = old[0] == new[0] or old[1] == new[1]
    renamed_app = all(name_of(a) == name_of(b) for a, b in zip(old, new, strict=True))
    return same_name or renamed_app


def _remedy(consumer: str, source: str, heirs: Sequence[tuple[str, str]]) -> str:
    if not heirs:
        return ""
    program, dataset = heirs[0]
    old, new, what = (consumer, program, "program") if consumer != program else (source, dataset, "dataset")
    (old_app, old_name), (new_app, new_name) = Ref.of(old), Ref.of(new)
    if old_app != new_app:
        return f"if app {new_app} is {old_app} renamed, write `renamed_from: {old_app}` in it"
    return f"if {what} {new_name} is {old_name} renamed, write `renamed_from: {old_name}` in it"


def _scheme(apps: Mapping[str, App], ref: str) -> PartitionScheme | None:
    dataset: Dataset | None = part_of(apps, "datasets", ref)
    return None if dataset is None else dataset.partitions


def _lost(before: PartitionScheme | None, after: PartitionScheme | None, parts: Sequence[str]) -> int:
    """Return the number of parts that mean something else, or nothing, under other partitions."""
    if before == after:
        return 0
    named = [part for part in parts if part != WHOLE]
    if after is None or not keeps_keys(before, after):
        return len(named)
    return sum(validate_key(after, part) is not None for part in named)

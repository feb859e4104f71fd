"""The lines of a difference: what `plan`, `deploy`, `diff` and `deployments` print."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import typer

from tidegate.cli.printing import Format, print_json
from tidegate.domain.wording import plural
from tidegate.scheduler.explain.operations.coverage import Coverage, Moved, PolicyCoverage
from tidegate.scheduler.model.maintenance import Untouched

if TYPE_CHECKING:
    from tidegate.compiler.plan.diff import Diff
    from tidegate.domain.model import App


def print_difference(
    difference: "Diff",
    format: Format,
    detected: "Mapping[str, App] | None" = None,
    covered: "Coverage | None" = None,
    selections: "Mapping[str, tuple[str, ...]] | None" = None,
    waiting: Sequence[str] = (),
) -> None:
    """Print a difference as text or JSON.

    Args:
        detected: the apps of which the detected upstream tasks are printed too.
        covered: what it changes for the tables of the policies; None where nothing is deployed by it.
        selections: the assets that programs select, by "app/program".
        waiting: the programs that only a host can launch, where none is active.
    """
    from tidegate.compiler.render.detected import detected_json
    from tidegate.compiler.render.diff_json import diff_json

    if format is Format.JSON:
        notes = {} if detected is None else {"detected": detected_json(detected.values())}
        tables = {} if covered is None else {"maintenance": coverage_json(covered)}
        chosen = {"selections": selections} if selections else {}
        hostless = {"waiting_for_host": list(waiting)} if waiting else {}
        print_json({**diff_json(difference), **notes, **tables, **chosen, **hostless})
    else:
        for line in difference_lines(difference, detected, covered, selections, waiting):
            typer.echo(line)


def difference_lines(
    difference: "Diff",
    detected: "Mapping[str, App] | None" = None,
    covered: "Coverage | None" = None,
    selections: "Mapping[str, tuple[str, ...]] | None" = None,
    waiting: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the lines of a difference; see `print_difference`."""
    from tidegate.compiler.plan.stages import STAGES
    from tidegate.compiler.render.detected import detected_lines
    from tidegate.compiler.render.diff_text import diff_text

    for program, assets in (selections or {}).items():
        yield f"{program} selects {plural(len(assets), 'asset')}: {', '.join(assets)}"
    yield from detected_lines(() if detected is None else detected.values())
    yield diff_text(difference)
    if covered is not None:
        yield from coverage_lines(covered)
        if not (difference.empty or difference.refused):
            yield f"order: {', '.join(STAGES)}"
    if waiting:
        yield f"note[W-HOST]: {_named(waiting)}: no host is active: tidegate host"


TABLES_NAMED = 5
"""So many tables are named in a line."""


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Yield the lines that follow the difference; none where nothing changes for any table."""
    moved = [each for each in coverage.moved if each.before is not None]
    if coverage.policies or moved:
        yield ""
        yield "Tables of the policies:"
    for policy in coverage.policies:
        yield from _policy(policy)
    for each in moved:
        yield f"  {_moved(each)}"
    if coverage.unmatched:
        yield ""
    for each in coverage.unmatched:
        yield f"warning: policy {each.policy}: no known table matches the exact pattern {each.pattern}"


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """Return the coverage as builtin values."""
    return msgspec.to_builtins(coverage)


def _policy(policy: PolicyCoverage) -> Iterator[str]:
    counts = [plural(policy.tables, "table")]
    counts += [
        f"{len(names)} {word}" for word, names in (("new", policy.new), ("lost", policy.lost)) if names
    ]
    yield f"  policy {policy.policy}: {', '.join(counts)}"
    for word, names in (("new", policy.new), ("lost", policy.lost)):
        if names:
            yield f"      {word}: {_named(names)}"
    for why, names in (
        (Untouched.NEVER_PUBLISHED, policy.never_published),
        (Untouched.LANDED, policy.landed),
    ):
        if names:
            yield f"      {why}, nothing is started on {_them(names)}: {_named(names)}"
    if policy.discarded:
        are = "is" if policy.discarded == 1 else "are"
        yield f"      -> {plural(policy.discarded, 'waiting job')} {are} discarded with D-DELETED"


def _them(names: Sequence[str]) -> str:
    return "it" if len(names) == 1 else "them"


def _moved(each: Moved) -> str:
    by = "by no policy" if each.after is None else f"by policy {each.after}"
    return f"{each.operation} of {_named(each.tables)}: {by}, before by {each.before}"


def _named(names: Sequence[str]) -> str:
    more = len(names) - TABLES_NAMED
    return ", ".join(names[:TABLES_NAMED]) + (f" and {more:,} more" if more > 0 else "")

"""What a deployment changes for the tables of the policies, as text and as JSON.

Counts, and the first names: a store may have ten thousand tables. `--format json` has all of them.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from tidegate.domain.wording import plural
from tidegate.scheduler.explain.operations.coverage import Coverage, Moved, PolicyCoverage
from tidegate.scheduler.model.maintenance import Untouched

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

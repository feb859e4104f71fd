"""What a deployment takes away, as text for the person who is asked whether to go on. Pure."""

from collections.abc import Iterator

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.render.diff_text import consequence_text


def taken_away(difference: Diff) -> tuple[str, ...]:
    """Return what a deployment deletes or discards, one line each."""
    gone = (
        f"{each.app}/{each.name} is deleted" for each in difference.schedules() if each.action == "delete"
    )
    return (*gone, *lost(difference))


def lost(difference: Diff) -> tuple[str, ...]:
    """Return what a deployment discards of the jobs that wait, one line for each schedule and reason."""
    return tuple(_lost(difference))


def _lost(difference: Diff) -> Iterator[str]:
    for change in difference.schedules():
        for consequence in change.consequences:
            if consequence.kind in ("discards", "drops"):
                yield f"{change.app}/{change.name}: {consequence_text(consequence)}"

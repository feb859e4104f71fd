"""A difference as JSON for tools: the data of `compiler.plan.diff.Diff`, without the apps themselves."""

from typing import Any

import msgspec

from tidegate.compiler.plan.blocked import Blocked
from tidegate.compiler.plan.diff import AppChange, Diff
from tidegate.compiler.plan.left_behind import LeftBehind
from tidegate.compiler.plan.override_change import OverrideChange
from tidegate.compiler.plan.ownership import TakenApp
from tidegate.compiler.plan.refusal import Refusal
from tidegate.compiler.plan.renames import Renames
from tidegate.compiler.plan.stages import STAGES
from tidegate.domain.value import Value


class Difference(Value, kw_only=True):
    """What a deployment changes, or has changed.

    Attributes:
        empty: it changes nothing.
        update_schedules: whether schedules follow the YAML.
        stages: of a deployment, in their order.
        apps: the changes of each app.
        refusals: what would be missing after it.
        stays: apps that the YAML does not have and that stay.
        adopted: apps without an owner that get one.
        renames: what goes on under another name.
        blocked: why it cannot be carried out now.
        left: watermarks that it leaves behind.
        overrides: what was changed by hand in these apps, and what becomes of it.
        taken: apps of the YAML that belong to other projects.
    """

    empty: bool
    update_schedules: bool
    stages: tuple[str, ...]
    apps: tuple[AppChange, ...]
    refusals: tuple[Refusal, ...]
    stays: tuple[str, ...]
    adopted: tuple[str, ...]
    renames: Renames
    blocked: tuple[Blocked, ...]
    left: tuple[LeftBehind, ...]
    overrides: tuple[OverrideChange, ...]
    taken: tuple[TakenApp, ...]


def shown_difference(difference: Diff) -> Difference:
    """Return what of a difference tools see."""
    same = {name: getattr(difference, name) for name in Difference.__struct_fields__ if name != "stages"}
    return Difference(**same, stages=tuple(STAGES))


def diff_json(difference: Diff) -> dict[str, Any]:
    """Return the difference as builtin values for a JSON encoder."""
    return msgspec.to_builtins(shown_difference(difference))

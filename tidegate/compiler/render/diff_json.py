"""A difference as JSON for tools: the data of `compiler.plan.diff.Diff`, without the apps themselves."""

from typing import Any

import msgspec

from tidegate.compiler.plan.diff import Diff
from tidegate.compiler.plan.stages import STAGES


def diff_json(difference: Diff) -> dict[str, Any]:
    """Return the difference as builtin values for a JSON encoder."""
    return {
        "empty": difference.empty,
        "update_schedules": difference.update_schedules,
        "stages": list(STAGES),
        "apps": msgspec.to_builtins(difference.apps),
        "refusals": msgspec.to_builtins(difference.refusals),
        "stays": list(difference.stays),
        "adopted": list(difference.adopted),
        "renames": msgspec.to_builtins(difference.renames),
        "blocked": msgspec.to_builtins(difference.blocked),
        "left": msgspec.to_builtins(difference.left),
        "overrides": msgspec.to_builtins(difference.overrides),
        "taken": msgspec.to_builtins(difference.taken),
    }

"""The distinction between a real tick and "Preview tick result" in the UI, which runs the same body.

The daemon's log key ends in the id of the tick; the log key of a preview ends in a time stamp
with an underscore; an evaluation in a test does not have a log key. Only a real tick may change state.
"""

from collections.abc import Sequence

PREVIEW_TEXT = "preview only, nothing was changed"


def is_real_tick(log_key: Sequence[str] | None) -> bool:
    """Return whether the daemon evaluates this tick and acts on its result."""
    return bool(log_key) and log_key is not None and log_key[-1].isdigit()

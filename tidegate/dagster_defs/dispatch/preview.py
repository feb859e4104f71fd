"""Is this evaluation real, or is somebody looking? "Preview tick result" in the UI runs the body.

The daemon evaluates with a log key that ends in the id of its tick; a preview's ends in a time
stamp with an underscore, and a test's has none. Only a real tick may change anything.
"""

from collections.abc import Sequence

PREVIEW_TEXT = "preview only, nothing was changed"


def is_real_tick(log_key: Sequence[str] | None) -> bool:
    """Whether the daemon evaluates a tick whose outcome it will act upon."""
    return bool(log_key) and log_key is not None and log_key[-1].isdigit()

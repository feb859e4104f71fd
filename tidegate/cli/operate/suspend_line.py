"""What a suspension, and its end, mean for what waits and what comes: one sentence for people."""

from tidegate.domain.model import OnSuspend


def suspended_line(mode: OnSuspend, waiting: int) -> str:
    """What `on_suspend` does to the waiting jobs of a schedule, and to the events that come."""
    if mode == "discard":
        return f"{_jobs(waiting, 'is discarded', 'are discarded')}, and what comes is ignored"
    if mode == "drain":
        return f"{_jobs(waiting, 'goes on', 'go on')}, and what comes is ignored"
    held = _jobs(waiting, "is held until it is resumed", "are held until it is resumed")
    if mode == "hold":
        return f"{held}; what comes joins what waits, and is ignored where nothing does"
    return f"{held}, and what comes waits too"


def resumed_line(mode: OnSuspend, waiting: int) -> str:
    """What resuming a schedule sets free."""
    if mode in ("hold", "backlog"):
        return f"{_jobs(waiting, 'is let go', 'are let go')}, and it goes on as if it had not been suspended"
    return "events and fires from now on count"


def _jobs(count: int, one: str, more: str) -> str:
    if count == 0:
        return "nothing waits"
    return f"1 waiting job {one}" if count == 1 else f"{count} waiting jobs {more}"

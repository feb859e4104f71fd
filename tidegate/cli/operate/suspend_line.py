"""The effect of suspending and resuming a schedule on its jobs and events, as one sentence."""

from tidegate.domain.model import OnSuspend


def suspended_line(mode: OnSuspend, waiting: int) -> str:
    """Return the effect of `on_suspend` on the waiting jobs of a schedule and on new events."""
    if mode == "discard":
        return f"{_jobs(waiting, 'is discarded', 'are discarded')}; new events are ignored"
    if mode == "drain":
        return f"{_jobs(waiting, 'can still run', 'can still run')}; new events are ignored"
    held = _jobs(waiting, "is held until resume", "are held until resume")
    if mode == "hold":
        return f"{held}; new events are added to held jobs and otherwise ignored"
    return f"{held}; new events are collected in held jobs"


def resumed_line(mode: OnSuspend, waiting: int) -> str:
    """Return the effect of resuming a schedule."""
    if mode in ("hold", "backlog"):
        return (
            f"{_jobs(waiting, 'is released', 'are released')}; it continues as if it had not been suspended"
        )
    return "events and fires count from now on"


def task_line(mode: OnSuspend, waiting: int, *, resumed: bool) -> str:
    """Return the effect of suspending or resuming a task on its instances that have not begun."""
    if resumed:
        return "its instances are launched as they become ready"
    begun = "1 instance that has not begun" if waiting == 1 else f"{waiting} instances that have not begun"
    if mode == "discard":
        return f"{begun}: discarded; new ones are made and held until resume"
    if mode == "drain":
        return f"{begun}: can still run; new ones are held until resume"
    return f"{begun}: held until resume; new ones are made and held too"


def _jobs(count: int, one: str, more: str) -> str:
    if count == 0:
        return "no waiting jobs"
    return f"1 waiting job {one}" if count == 1 else f"{count} waiting jobs {more}"

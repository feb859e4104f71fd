"""Keys that belong to the language but that this version does not know yet.

They are refused with a message of their own, so that nobody takes a rule for active that
nothing reads. A key leaves this table when its trigger, constraint or option arrives.
"""

LATER: dict[str, tuple[str, ...]] = {
    "app": ("tasks", "policies", "settings"),
    "schedule": ("sensor", "cron"),
    "program": ("job",),
    "dataset": ("external",),
}
"""By the title of the place, without its article: the keys that are yet to come."""


def is_later(place: str, key: str) -> bool:
    """Return whether a key is known to the language at a place, named by the title of its schema."""
    return key in LATER.get(place.removeprefix("a ").removeprefix("an "), ())

"""Keys that are reserved for a later version.

They are refused with a message of their own, so that a user does not expect an effect. Remove a key from
this table when its trigger, constraint or option is implemented.
"""

LATER: dict[str, tuple[str, ...]] = {
    "app": ("settings",),
    "schedule": ("cron",),
    "program": ("job",),
    "dataset": ("external",),
}
"""Reserved keys by the title of the place, without its article."""


def is_later(place: str, key: str) -> bool:
    """Return whether a key is known to the language at a place, named by the title of its schema."""
    return key in LATER.get(place.removeprefix("a ").removeprefix("an "), ())

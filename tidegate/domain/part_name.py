"""The names of datasets and programs, within an app and among all apps.

In the YAML of an app, `raw_flights` is a dataset of the app itself, and `feeds/raw_flights` one of the app
`feeds`. The whole name, "app/name", is the same everywhere: in event keys, table ids and the commit store.
"""

SEPARATOR = "/"
"""No name of an app or of its parts has this character."""


def whole_name(app: str, name: str) -> str:
    """Return the whole name, "app/name", of a part that an app names."""
    return name if SEPARATOR in name else f"{app}{SEPARATOR}{name}"


def name_in(app: str, whole: str) -> str:
    """Return the name that an app uses for a part: without its own name, whole for another app's."""
    return whole.removeprefix(f"{app}{SEPARATOR}")


def is_of_other(name: str) -> bool:
    """Return whether a name, as `name_in` returns it, is that of another app's part."""
    return SEPARATOR in name


def name_of(whole: str) -> str:
    """Return the name of a part within its app, of its whole name."""
    return whole.partition(SEPARATOR)[2]


def app_of(whole: str) -> str:
    """Return the app of a whole name."""
    return whole.partition(SEPARATOR)[0]

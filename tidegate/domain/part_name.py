"""The names of datasets and programs, within an app and among all apps.

In the YAML of an app, `raw_flights` is a dataset of the app itself, and `feeds/raw_flights` one of the app
`feeds`. The whole name, "app/name", is the same everywhere: in event keys, table ids and the commit store.

People may write the namespace of the app too, `analytics/feeds/raw_flights`. Names of apps are unique in a
store, so the namespace says nothing more: it is checked where the name is read, and left out from there on.
"""

import re
from typing import NamedTuple

SEPARATOR = "/"
"""No name of an app or of its parts has this character."""

DEFAULT_NAMESPACE = "default"
"""The namespace of a project that names none."""

_SEPARATORS_WITH_NAMESPACE = 2
_WITH_NAMESPACE = re.compile(r"[a-z][a-z0-9_-]*/[a-z][a-z0-9_]*/[^/]+")
"""A pattern of tables between slashes ("lake./r[0-9]+/") is not such a name."""


class Ref(NamedTuple):
    """A part of an app by its whole name.

    Attributes:
        app: the name of the app.
        name: the name of the part within its app.
    """

    app: str
    name: str

    @classmethod
    def of(cls, whole: str) -> "Ref":
        """Return the two names in "app/name"; an app alone has an empty `name`."""
        app, _, name = whole.partition(SEPARATOR)
        return cls(app, name)


def namespace_of(name: str) -> str | None:
    """Return the namespace in a name, "namespace/app/name"; None if it has none."""
    return name.partition(SEPARATOR)[0] if _has_namespace(name) else None


def without_namespace(name: str) -> str:
    """Return a name without the namespace that it may begin with."""
    return name.partition(SEPARATOR)[2] if _has_namespace(name) else name


def _has_namespace(name: str) -> bool:
    return name.count(SEPARATOR) == _SEPARATORS_WITH_NAMESPACE and bool(_WITH_NAMESPACE.fullmatch(name))


def namespace_and_app(name: str) -> tuple[str, str]:
    """Return the namespace and the app of "namespace/app"; the namespace is "" for "app" alone."""
    namespace, _, app = name.rpartition(SEPARATOR)
    return namespace, app


def whole_name(app: str, name: str) -> str:
    """Return the whole name, "app/name", of a part that an app names."""
    name = without_namespace(name)
    return name if SEPARATOR in name else f"{app}{SEPARATOR}{name}"


def name_in(app: str, whole: str) -> str:
    """Return the name that an app uses for a part: without its own name, whole for another app's."""
    return without_namespace(whole).removeprefix(f"{app}{SEPARATOR}")


def is_of_other(name: str) -> bool:
    """Return whether a name, as `name_in` returns it, is that of another app's part."""
    return SEPARATOR in name


def name_of(whole: str) -> str:
    """Return the name of a part within its app, of its whole name."""
    return Ref.of(whole).name


def app_of(whole: str) -> str:
    """Return the app of a whole name."""
    return Ref.of(whole).app

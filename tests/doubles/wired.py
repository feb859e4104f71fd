"""A store at the other end of a wire: something happens before a call arrives, or before its answer does.

What happens is up to the test: it raises (the server is gone, the process dies), waits, or lets
another run act in that moment. One double for every store whose calls a test disturbs.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

S = TypeVar("S")

Happens = Callable[[str], object]
"""Is given the name of the method that is called."""


def quiet(method: str) -> None:
    """Nothing happens."""


def wired(store: S, *, before: Happens = quiet, after: Happens = quiet) -> S:
    """Return a store that passes every call on to `store`, with what happens before and after its effect."""
    return cast(S, _Wired(store, before, after))


def gone(*methods: str) -> Happens:
    """The server is gone at these methods."""

    def happens(method: str) -> None:
        if method in methods:
            raise ConnectionError("the server is gone")

    return happens


class _Wired:
    def __init__(self, store: object, before: Happens, after: Happens) -> None:
        self._store = store
        self._before = before
        self._after = after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._store, name)

        def call(*given: object, **named: object) -> Any:
            self._before(name)
            answer = method(*given, **named)
            self._after(name)
            return answer

        return call

"""The character U+0000, which PostgreSQL does not store: a call that has it anywhere is malformed.

path, query          `NoNul`, before a route is looked for
body, form           `refuse_nul`, after it is decoded
"""

from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from tidegate.server.problem import Problem, answer_of

NUL = "\x00"
QUOTED = b"%00"
"""In a query, which is not decoded yet."""


class NoNul:
    """Answers 400 to a path or query with the character."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (NUL in scope["path"] or QUOTED in scope["query_string"]):
            await answer_of(_malformed("the path or the query"))(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def refuse_nul(value: Any) -> None:
    """Refuse a body with the character in any text or key.

    Raises:
        Problem: 400.
    """
    for key, member in value.items() if isinstance(value, dict) else [("", value)]:
        if _has_nul(key):
            raise _malformed("a key of the body")
        if _has_nul(member):
            raise _malformed(f'"{key}" in the body' if key else "the body")


def _has_nul(value: Any) -> bool:
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, str) and NUL in each:
            return True
        if isinstance(each, dict):
            rest += [*each, *each.values()]
        elif isinstance(each, list):
            rest += each
    return False


def _malformed(where: str) -> Problem:
    return Problem(400, f"{where} has the character U+0000, which no text may have")

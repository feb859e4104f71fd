"""Something happens before the statements of a database engine, and before its commits."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

from sqlalchemy import Connection, Engine, event

T = TypeVar("T")

Moment = Literal["before_cursor_execute", "commit"]

BOTH: tuple[Moment, ...] = ("before_cursor_execute", "commit")


class Boom(Exception):
    """The crash: SQLAlchemy rolls back, as a database does for a client that is gone."""


@contextmanager
def listening(
    engine: Engine | type[Engine],
    call: Callable[..., object],
    moments: tuple[Moment, ...] = ("before_cursor_execute",),
) -> Iterator[None]:
    """Call a function with the arguments of SQLAlchemy's event at each of these moments."""
    for moment in moments:
        event.listen(engine, moment, call)
    try:
        yield
    finally:
        for moment in moments:
            event.remove(engine, moment, call)


@contextmanager
def dying_before(
    engine: Engine | type[Engine], point: int, death: type[BaseException] = Boom
) -> Iterator[list[int]]:
    """An engine, or every engine, fails before its n-th statement or COMMIT; at point 0 none does.

    Yields a list as long as what came before.
    """
    passed: list[int] = []

    def counted(connection: Connection, *_: Any) -> None:
        if len(passed) == point - 1:
            # At a COMMIT SQLAlchemy takes the transaction for ended, and would leave it open.
            connection.connection.rollback()
            raise death
        passed.append(point)

    with listening(engine, counted, BOTH):
        yield passed


def until_it_survives(
    engine: Engine, deed: Callable[[], T], *, most: int, died: Callable[[int], object]
) -> tuple[T, int]:
    """Let a deed die before its first statement or COMMIT, then before its second one, until it survives.

    Args:
        most: more statements and COMMITs than it has.
        died: judges what each death has left; is given the number of the statement.

    Returns:
        what the deed returns, and how many statements and COMMITs it has.
    """
    for point in range(1, most):
        try:
            with dying_before(engine, point) as passed:
                answer = deed()
        except Boom:
            died(point)
        else:
            return answer, len(passed)
    raise AssertionError(f"it has {most} statements or more")

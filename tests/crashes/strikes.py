"""Where a process is struck: before or after a method, a system call, a COMMIT, a call of Java.

A strike is installed in a process of its own, which it changes for good. What it does there, the
test says: most often it is `kill_self`.
"""

import os
import re
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from py4j.clientserver import ClientServerConnection
from sqlalchemy import Engine, event

Strike = Callable[[], object]
Install = Callable[[Strike], None]

CHANGING_CALLS = ("link", "symlink", "rename", "replace", "mkdir", "rmdir", "unlink", "fsync")
"""The functions of `os` by which a commit changes files."""

_JAVA_CALL = re.compile(r"c\n[^\n]*\n([A-Za-z]+)\n")


def before(owner: Any, name: str, nth: int = 1) -> Install:
    """Strike before the n-th call of a method."""

    def install(strike: Strike) -> None:
        each_call(owner, name, _nth(nth, strike))

    return install


def after(owner: Any, name: str, nth: int = 1) -> Install:
    """Strike when the n-th call of a method has returned."""

    def install(strike: Strike) -> None:
        struck, real = _nth(nth, strike), getattr(owner, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            returned = real(*args, **kwargs)
            struck()
            return returned

        setattr(owner, name, call)

    return install


def before_commit_of(statement: str) -> Install:
    """Strike before the database commits the transaction that has made a statement."""

    def install(strike: Strike) -> None:
        made: list[str] = []

        def executed(*args: Any) -> None:
            if args[2].startswith(statement):
                made.append(statement)

        def committing(*_: Any) -> None:
            if made:
                strike()

        event.listen(Engine, "before_cursor_execute", executed)
        event.listen(Engine, "commit", committing)

    return install


def before_java(name: str, nth: int = 1) -> Install:
    """Strike before the n-th call of a Java method is sent."""

    def install(strike: Strike) -> None:
        struck = _nth(nth, strike)
        each_java(lambda called: struck() if called == name else None)

    return install


def before_change(nth: int) -> Install:
    """Strike before the n-th change of a file or of the database."""

    def install(strike: Strike) -> None:
        struck = _nth(nth, strike)
        for name in CHANGING_CALLS:
            each_call(os, name, struck)
        event.listen(Engine, "before_cursor_execute", struck)
        event.listen(Engine, "commit", struck)

    return install


def before_remote_change(nth: int, java: Iterable[str]) -> Install:
    """Strike before the n-th COMMIT or call of one of these Java methods."""

    def install(strike: Strike) -> None:
        struck = _nth(nth, strike)
        # Whatever a transaction has written is nothing until it commits.
        event.listen(Engine, "commit", struck)
        each_java(lambda called: struck() if called in java else None)

    return install


def each_java(counted: Callable[[str], object]) -> None:
    """Call `counted` with the name of each Java method before it is called."""

    def sending(_: object, command: str) -> None:
        called = _JAVA_CALL.match(command)
        if called:
            counted(called[1])

    each_call(ClientServerConnection, "send_command", sending)


def each_call(owner: Any, name: str, counted: Callable[..., object]) -> None:
    """Call `counted` with the first arguments of each call of a method, before it."""
    real = getattr(owner, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        counted(*args[:2])
        return real(*args, **kwargs)

    setattr(owner, name, call)


def _nth(nth: int, strike: Strike) -> Callable[..., None]:
    """A function that strikes at its n-th call."""
    numbers = count(1)

    def counted(*_: object) -> None:
        if next(numbers) == nth:
            strike()

    return counted

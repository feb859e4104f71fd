"""Calls the code of a user, which has a value to give: a process that ends before that has failed.

`sys.exit(0)` in a program would end the process of its run like a success with nothing published, and so
would `os._exit`, whose caller returns from nothing. Both are failures here, whatever the code.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class ProgramExited(Exception):
    """A program ended its process before it returned its outputs."""


def call_program(path: str, function: Callable[..., Any], *given: Any) -> Any:
    """Return what a function of a user returns.

    Args:
        path: its dotted path.
        given: its arguments.

    Raises:
        ProgramExited: it tried to end the process.
    """
    try:
        with _exits_raise():
            return function(*given)
    except SystemExit as error:
        code = "" if error.code is None else repr(error.code)
        told = ProgramExited(
            f"program {path} called sys.exit({code}) before it returned its outputs: nothing was published; "
            "return the outputs, or raise an exception that says what is wrong"
        )
        raise told.with_traceback(error.__traceback__) from error


@contextmanager
def _exits_raise() -> Iterator[None]:
    """Let `os._exit` raise SystemExit in this process while a block runs; a forked child ends as ever."""
    owner, leave = os.getpid(), os._exit

    def refuse(status: int) -> NoReturn:
        if os.getpid() != owner:
            leave(status)
        raise SystemExit(status)

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = leave

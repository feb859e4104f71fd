"""Strikes by chance: a driver dies before any one of all the calls that it makes.

Whatever a driver does goes through a call of Java, a statement of SQL, a commit of the database, or a
call of the operating system that changes a file. They are counted, and at one number, which
comes from a seed, the driver dies. So a kill can be repeated, and there is none that could not be met.
"""

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from py4j.clientserver import ClientServerConnection
from sqlalchemy import Engine, event

from tests.crashes.strikes import each_call

FILE_CALLS = ("link", "rename", "mkdir", "rmdir", "unlink", "fsync", "replace")


def at_call(number: int, strike: Callable[[], object]) -> None:
    """From now on counts the calls of this process, and strikes before one of them; 0 for none."""
    numbers = count(1)

    def called(*_: Any) -> None:
        if next(numbers) == number:
            strike()

    for name in FILE_CALLS:
        each_call(os, name, called)
    each_call(ClientServerConnection, "send_command", called)
    event.listen(Engine, "before_cursor_execute", called)
    event.listen(Engine, "commit", called)
    counters.append(numbers)


counters: list[Any] = []
"""What has been counted in this process."""


def tell_calls(file: Path) -> None:
    """Writes down how many calls this process has made since `at_call`."""
    file.write_text(str(next(counters[-1]) - 1))

"""A command: a program that gets the alert as JSON on its standard input, and members of it as arguments.

It is started without a shell, each argument is one argument, and nothing of an alert names the program. So
hostile names are data to it.
"""

import json
import os
import re
import signal
import subprocess
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

from tidegate.alerts.channel import Command, NotSent
from tidegate.alerts.texts import members, plain
from tidegate.scheduler.model.records.alert import Alert

SECONDS = 60
"""For one call; then it is ended."""

ERRORS_BYTES = 8192
"""Of the error output of a command, for the error."""

ERRORS_SECONDS = 1
"""For the error output to end after the command."""

_PLACE = re.compile(r"\{([a-z_]+)\}")


def send_command(channel: Command, alert: Alert) -> None:
    """Send an alert.

    Raises:
        NotSent: the program cannot be started, takes too long, or ends with a code other than 0.
    """
    found = members(alert)
    arguments = [channel.command[0], *(_filled(each, found) for each in channel.command[1:])]
    with TemporaryFile() as given:
        given.write(json.dumps(found).encode())
        given.seek(0)
        code, said = _ended(arguments, given)
    if code != 0:
        raise NotSent(f"the command ended with {code}{': ' if said else ''}{said}", "repair it")


def _ended(arguments: list[str], given: IO[bytes]) -> tuple[int, str]:
    """Run a program to its end; return its code, and how its error output begins.

    Raises:
        NotSent: it cannot be started, or takes too long.
    """
    try:
        process = subprocess.Popen(
            arguments,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise NotSent(f"the command cannot be started: {plain(str(error))}", "correct its path") from None
    assert process.stderr is not None
    said: list[bytes] = []
    reader = Thread(target=_drain, args=(process.stderr, said), daemon=True)
    reader.start()
    try:
        code = process.wait(SECONDS)
    except subprocess.TimeoutExpired:
        # Its children too, which may go on with what it began.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise NotSent(f"the command took more than {SECONDS} s", "make it faster") from None
    # A child that goes on in the background keeps the pipe open.
    reader.join(ERRORS_SECONDS)
    return code, plain(b"".join(said).decode("utf-8", "replace")).strip()


def _drain(output: IO[bytes], said: list[bytes]) -> None:
    """Read an output to its end, and keep what it begins with."""
    left = ERRORS_BYTES
    with output:
        while chunk := os.read(output.fileno(), ERRORS_BYTES):
            if left:
                said.append(chunk[:left])
                left -= len(said[-1])


def _filled(argument: str, found: dict[str, Any]) -> str:
    """Return an argument with the members that it names; a value is not looked at again."""
    return _PLACE.sub(lambda place: plain(str(found.get(place[1], place[0]))), argument)

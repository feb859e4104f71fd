"""A command: a program that gets the alert as JSON on its standard input, and members of it as arguments.

It is started without a shell, each argument is one argument, and nothing of an alert names the program. So
hostile names are data to it.
"""

import json
import os
import re
import signal
import subprocess
from typing import Any

from tidegate.alerts.channel import Command, NotSent
from tidegate.alerts.texts import members, plain
from tidegate.scheduler.model.records.alert import Alert

SECONDS = 60
"""For one call; then it is ended."""

_PLACE = re.compile(r"\{([a-z_]+)\}")


def send_command(channel: Command, alert: Alert) -> None:
    """Send an alert.

    Raises:
        NotSent: the program cannot be started, takes too long, or ends with a code other than 0.
    """
    found = members(alert)
    arguments = [channel.command[0], *(_filled(each, found) for each in channel.command[1:])]
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(
            arguments, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, start_new_session=True
        )
    except (OSError, ValueError) as error:
        raise NotSent(f"the command cannot be started: {plain(str(error))}", "correct its path") from None
    with process:
        try:
            _, errors = process.communicate(json.dumps(found).encode(), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            # Its children too: they would hold the pipe open.
            os.killpg(process.pid, signal.SIGKILL)
            raise NotSent(f"the command took more than {SECONDS} s", "make it faster") from None
    if process.returncode != 0:
        said = plain(errors.decode("utf-8", "replace")).strip()
        raise NotSent(f"the command ended with {process.returncode}{': ' if said else ''}{said}", "repair it")


def _filled(argument: str, found: dict[str, Any]) -> str:
    """Return an argument with the members that it names; a value is not looked at again."""
    return _PLACE.sub(lambda place: plain(str(found.get(place[1], place[0]))), argument)

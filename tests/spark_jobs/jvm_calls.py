"""Counts the calls of a block of Python into the JVM of Spark."""

from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import pytest
from py4j.clientserver import ClientServerConnection

FORGETS = "m\n"
"""Py4J tells the JVM which objects Python has forgotten, from a thread of its own."""


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Generator[Counter[str]]:
    """Count the calls of a block by the name of the Java method, or the kind of command."""
    calls: Counter[str] = Counter()
    send = ClientServerConnection.send_command

    def sending(self: ClientServerConnection, command: str) -> str:
        if not command.startswith(FORGETS):
            kind, name, *rest = command.split("\n")
            calls[rest[0] if kind == "c" else f"{kind} {name}"] += 1
        return send(self, command)

    with monkeypatch.context() as patch:
        patch.setattr(ClientServerConnection, "send_command", sending)
        yield calls

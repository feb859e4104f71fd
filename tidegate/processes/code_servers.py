"""Code servers: the locations that they serve, whether these are loaded, and how they are loaded again.

A code server keeps the definitions in a process behind it, and answers with the error of the last load. No
function here starts one (`processes.dagster`). Dagster is imported only when one of them is called, and by
`code_state` only to word an error.
"""

import contextlib
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidegate.dagster_defs.internals.errors import SerializableErrorInfo

HOST = "127.0.0.1"

READY_SECONDS = 120
"""Maximum time until a process answers. Loading a large plan on a busy machine takes a minute."""


def free_port() -> int:
    """Return a free port of the loopback interface."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


@dataclass(frozen=True, kw_only=True)
class Served:
    """A code location of others.

    Attributes:
        command: starts its server; empty where it has one that runs already.
        socket: of the server, where it has no port.
    """

    name: str
    host: str
    port: int | None = None
    socket: str | None = None
    command: tuple[str, ...] = ()

    @property
    def process(self) -> str:
        """The name of its process and of its log."""
        return "code-server-" + re.sub(r"[^A-Za-z0-9.]+", "-", self.name)

    @property
    def entry(self) -> Mapping[str, object]:
        """Its entry in a workspace file."""
        at = {"port": self.port} if self.socket is None else {"socket": self.socket}
        return {"grpc_server": {"host": self.host, **at, "location_name": self.name}}


def code_state(port: int, host: str = HOST) -> tuple[bool, str | None]:
    """Return whether the code server at a port has loaded its definitions, and its load error."""
    from tidegate.dagster_defs.internals.code_server_answer import has_loaded

    found = has_loaded(f"{host}:{port}")
    if found is not None:
        return found, None
    loaded, error = _asked(port, host)
    return loaded, None if error is None else error.to_string()


def load_problem(served: Served) -> str | None:
    """Return why a code server has not loaded its location, in one line; "" if it has, None before that."""
    from tidegate.dagster_defs.existing.creation import innermost

    loaded, error = (False, None) if served.port is None else _asked(served.port, served.host)
    if error is not None:
        return innermost(error)
    return "" if loaded else None


def has_ours(served: Served) -> bool:
    """Return whether the location of a code server has our sensor, loaded or waiting for a deployment."""
    from dagster import deserialize_value

    from tidegate.dagster_defs.deployed.names import DISPATCHER, NOTHING_DEPLOYED
    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient, ListRepositoriesResponse
    from tidegate.dagster_defs.internals.origins import GrpcServerCodeLocationOrigin, RemoteRepositoryOrigin

    if load_problem(served) != "":
        return False
    client = DagsterGrpcClient(port=served.port, host=served.host)
    listed = deserialize_value(client.list_repositories(), ListRepositoriesResponse)
    origin = GrpcServerCodeLocationOrigin(host=served.host, port=served.port, location_name=served.name)
    texts = (
        client.external_repository(RemoteRepositoryOrigin(origin, each.repository_name), defer_snapshots=True)
        for each in listed.repository_symbols
    )
    return any(f'"{name}"' in text for text in texts for name in (DISPATCHER, NOTHING_DEPLOYED))


def _asked(port: int, host: str) -> "tuple[bool, SerializableErrorInfo | None]":
    from dagster import deserialize_value

    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient, ListRepositoriesResponse
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError, SerializableErrorInfo

    try:
        answer = DagsterGrpcClient(port=port, host=host).list_repositories()
    except DagsterUserCodeUnreachableError:
        return False, None
    found = deserialize_value(answer, (ListRepositoriesResponse, SerializableErrorInfo))
    return (False, found) if isinstance(found, SerializableErrorInfo) else (True, None)


def inner_has_ended(port: int) -> bool:
    """Return whether the code server answers, but the process behind it that has the definitions does not."""
    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError

    try:
        DagsterGrpcClient(port=port, host=HOST).ping("")
    except DagsterUserCodeUnreachableError as error:
        # The code server passes on what it met; a slow process behind it would be DEADLINE_EXCEEDED.
        return "UNAVAILABLE" in str(error.__cause__ or error)
    return False


def reload_by_grpc(port: int) -> str | None:
    """Reload without a webserver and return the load error, if any."""
    from tidegate.dagster_defs.internals.code_server import DagsterGrpcClient
    from tidegate.dagster_defs.internals.errors import DagsterUserCodeUnreachableError

    # After the reload the code server shuts the process before down, which may have ended already.
    with contextlib.suppress(DagsterUserCodeUnreachableError):
        DagsterGrpcClient(port=port, host=HOST).reload_code(timeout=READY_SECONDS)
    loaded, problem = code_state(port)
    return problem or (None if loaded else "its definitions are not loaded")

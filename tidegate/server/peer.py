"""The user of this machine who has sent a request: whose socket the other end of a local connection is.

Linux lists all sockets with their owners. Where it does not, or shows not even our own, no caller is known.
"""

import ipaddress
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fastapi import Request

from tidegate.server.connections import OF_CONNECTION

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
"""The sockets of IPv4 and of IPv6 (proc_pid_net(5))."""

LOOKS = 2
"""A list that changes while it is read may lack a socket (proc_pid_net(5) promises nothing)."""

LISTENING = "0A"
ROOT = 0

PEER = "peer"
"""What is kept of a connection."""


@dataclass(frozen=True)
class Peer:
    """Whose connection a request came by.

    Attributes:
        name: of the user; empty where the connection is gone already, with its owner.
        is_trusted: it is the user who runs the server, or root, who may read and write its store anyway.
    """

    name: str
    is_trusted: bool


@dataclass(frozen=True)
class _Socket:
    address: str
    port: int
    peer_port: int
    state: str
    user: int
    inode: int


def sees_owners(port: int, tables: tuple[Path, ...] = TABLES) -> bool:
    """Return whether this machine says whose a socket is: it knows the owner of our own, which listens."""
    return any(
        each.state == LISTENING and each.port == port and each.inode and each.user == os.geteuid()
        for each in _sockets(tables)
    )


def peer_of(request: Request, tables: tuple[Path, ...] = TABLES) -> Peer:
    """Return who has sent a request that came from this machine.

    A socket keeps its owner, so a connection is looked up once: Linux lists a busy machine's sockets in
    milliseconds, a tenth of what a report of a hundred partitions costs.
    """
    kept: dict[str, Peer] = request.scope.get("state", {}).get(OF_CONNECTION, {})
    if PEER in kept:
        return kept[PEER]
    (host, port), (_, own_port) = request.scope["client"], request.scope["server"]
    addresses = _as_listed(host)
    for _ in range(LOOKS):
        for each in _sockets(tables):
            # A socket that its process has closed has no inode, and is listed as root's.
            if each.inode and (each.port, each.peer_port) == (port, own_port) and each.address in addresses:
                found = Peer(_name_of(each.user), each.user in (ROOT, os.geteuid()))
                kept[PEER] = found
                return found
    return Peer("", is_trusted=False)


def _sockets(tables: tuple[Path, ...]) -> Iterator[_Socket]:
    for table in tables:
        try:
            lines = table.read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            _, local, remote, state, _, _, _, user, _, inode, *_ = line.split()
            address, _, port = local.partition(":")
            yield _Socket(
                address, int(port, 16), int(remote.partition(":")[2], 16), state, int(user), int(inode)
            )


def _as_listed(host: str) -> frozenset[str]:
    """Return how an address may be listed: words of 4 bytes in its order; IPv4 also within IPv6."""
    address = ipaddress.ip_address(host.partition("%")[0])
    forms = [address.packed]
    if isinstance(address, ipaddress.IPv4Address):
        forms.append(ipaddress.IPv6Address(f"::ffff:{address}").packed)
    elif address.ipv4_mapped is not None:
        forms.append(address.ipv4_mapped.packed)
    return frozenset("".join(f"{word:08X}" for (word,) in struct.iter_unpack("=I", each)) for each in forms)


def _name_of(user: int) -> str:
    # Not on Windows, where there are no tables either.
    import pwd

    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return str(user)

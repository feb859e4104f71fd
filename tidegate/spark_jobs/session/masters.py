"""Whether the master of a cluster answers, asked by a connection before Spark asks.

Spark tries a master that is away for minutes, and then reports the stack of a class of its own. A standalone
master and Kubernetes' API are asked here; YARN names its master in files of Hadoop, so only Spark asks it.
"""

import re
import socket
from time import monotonic, sleep
from urllib.parse import urlsplit
from urllib.request import getproxies

from tidegate.spark_jobs.errors import ClusterRefused

CONNECT_SECONDS = 3
RESTART_SECONDS = 20
"""A master that is started again is away for as long. A run that waits longer fails, and is tried again."""
PAUSE_SECONDS = 1
REMEDY = "start it, or correct `master` in tidegate.toml; `tidegate doctor` asks it again"
_STANDALONE, _KUBERNETES = "spark://", "k8s://"
_PORTS = {"http": 80, "https": 443}


def addresses(master: str) -> tuple[tuple[str, int], ...]:
    """Return host and port of each master that a URL names; none where only Spark can ask.

    A standalone cluster may have several, of which one leads.
    """
    if master.startswith(_STANDALONE):
        places = [f"//{place}" for place in master.removeprefix(_STANDALONE).split(",")]
    elif master.startswith(_KUBERNETES) and not getproxies():
        place = master.removeprefix(_KUBERNETES)
        places = [place if re.match(r"https?://", place) else f"https://{place}"]
    else:
        return ()
    found = [urlsplit(place) for place in places]
    return tuple(
        (each.hostname, port)
        for each in found
        if each.hostname and (port := each.port or _PORTS.get(each.scheme))
    )


def problem_of(master: str) -> str | None:
    """Return why no master of a URL answers; None where one does, or where only Spark can ask."""
    problems: list[str] = []
    for host, port in addresses(master):
        try:
            socket.create_connection((host, port), CONNECT_SECONDS).close()
        except OSError as error:
            problems.append(f"{host}:{port}: {error.strerror or error}")
        else:
            return None
    return "; ".join(problems) or None


def require_answer(master: str) -> None:
    """Wait until a master answers, for as long as one takes that is started again.

    Raises:
        ClusterRefused: it does not answer.
    """
    until = monotonic() + RESTART_SECONDS
    while (problem := problem_of(master)) is not None:
        if monotonic() >= until:
            raise ClusterRefused(f"the Spark master {master} does not answer ({problem})", REMEDY)
        sleep(PAUSE_SECONDS)

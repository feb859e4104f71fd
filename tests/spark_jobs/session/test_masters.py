"""Whether a master answers is known before Spark asks it."""

import socket
from collections.abc import Iterator

import pytest

from tests.crashes.processes import in_child
from tidegate.spark_jobs.errors import ClusterRefused
from tidegate.spark_jobs.session import masters
from tidegate.spark_jobs.session.masters import addresses, problem_of
from tidegate.spark_jobs.session.session import SparkSettings, session


@pytest.fixture
def listening() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def closed() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.mark.parametrize(
    ("master", "asked"),
    [
        ("local[*]", ()),
        ("local-cluster[2,1,1024]", ()),
        ("yarn", ()),
        ("spark://host:7077", (("host", 7077),)),
        ("spark://[::1]:7077", (("::1", 7077),)),
        ("spark://a:7077,b:7078", (("a", 7077), ("b", 7078))),
        ("k8s://https://host:6443", (("host", 6443),)),
        ("k8s://https://kubernetes.default.svc", (("kubernetes.default.svc", 443),)),
        ("k8s://http://host", (("host", 80),)),
        ("k8s://host:6443", (("host", 6443),)),
    ],
)
def test_where_a_master_is(
    monkeypatch: pytest.MonkeyPatch, master: str, asked: tuple[tuple[str, int], ...]
) -> None:
    monkeypatch.setattr(masters, "getproxies", dict)
    assert addresses(master) == asked


def test_kubernetes_behind_a_proxy_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert addresses("k8s://https://host:6443") == ()


def test_one_of_several_masters_answers(listening: int, closed: int) -> None:
    assert problem_of(f"spark://127.0.0.1:{closed},127.0.0.1:{listening}") is None
    assert problem_of(f"spark://127.0.0.1:{closed}") == f"127.0.0.1:{closed}: Connection refused"


def test_a_session_of_a_master_that_does_not_answer_is_refused_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, closed: int
) -> None:
    monkeypatch.setattr(masters, "RESTART_SECONDS", 0)
    # Spark would start a JVM of this Java.
    monkeypatch.setattr("tidegate.spark_jobs.session.session.java_home", lambda: pytest.fail("Spark starts"))
    master = f"spark://127.0.0.1:{closed}"

    def work() -> None:
        with pytest.raises(ClusterRefused) as refused:
            session(SparkSettings(master=master))
        assert f"the Spark master {master} does not answer (127.0.0.1:{closed}: Connection" in str(
            refused.value
        )
        assert "correct `master` in tidegate.toml" in str(refused.value)

    # Another test of this process may have a session.
    assert in_child(work) == 0


def test_a_session_waits_for_a_master_that_is_started_again(
    monkeypatch: pytest.MonkeyPatch, closed: int
) -> None:
    started: list[socket.socket] = []

    def start(seconds: float) -> None:
        started.append(socket.create_server(("127.0.0.1", closed)))

    monkeypatch.setattr(masters, "sleep", start)
    masters.require_answer(f"spark://127.0.0.1:{closed}")
    assert len(started) == 1
    started[0].close()

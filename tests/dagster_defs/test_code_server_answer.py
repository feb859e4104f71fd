"""What a code server answers is read as Dagster's own client reads it."""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from dagster import serialize_value
from dagster._grpc.__generated__ import dagster_api_pb2

from tidegate.dagster_defs.internals.code_server import ListRepositoriesResponse
from tidegate.dagster_defs.internals.code_server_answer import METHOD, has_loaded
from tidegate.dagster_defs.internals.errors import SerializableErrorInfo
from tidegate.processes.code_servers import HOST, code_state, free_port

pytestmark = pytest.mark.dagster

LOADED = ListRepositoriesResponse(repository_symbols=[], entry_point=["dagster"])
BROKEN = SerializableErrorInfo(message="no module named programs\n", stack=[], cls_name="ImportError")
SECONDS = 5.0


@contextmanager
def serving(answer: Any) -> Generator[int]:
    """Serve an answer as a code server does, and yield the port."""
    reply = dagster_api_pb2.ListRepositoriesReply(
        serialized_list_repositories_response_or_error=serialize_value(answer)
    )

    class Answers(grpc.GenericRpcHandler):
        def service(self, handler_call_details: Any) -> Any:
            assert handler_call_details.method == METHOD
            return grpc.unary_unary_rpc_method_handler(lambda request, context: reply.SerializeToString())

    with ThreadPoolExecutor(1) as pool:
        server = grpc.server(pool, handlers=[Answers()])
        port = server.add_insecure_port(f"{HOST}:0")
        server.start()
        try:
            yield port
        finally:
            server.stop(None).wait(SECONDS)


def test_a_list_of_repositories_is_known_at_its_beginning() -> None:
    with serving(LOADED) as port:
        assert has_loaded(f"{HOST}:{port}") is True
        assert code_state(port) == (True, None)


def test_an_error_is_left_to_the_client_of_dagster() -> None:
    with serving(BROKEN) as port:
        assert has_loaded(f"{HOST}:{port}") is None
        loaded, problem = code_state(port)
    assert (loaded, "no module named programs" in (problem or "")) == (False, True)


def test_a_server_that_does_not_answer_has_not_loaded() -> None:
    port = free_port()
    assert has_loaded(f"{HOST}:{port}") is False
    assert code_state(port) == (False, None)

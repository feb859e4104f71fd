"""Whether a code server has loaded its definitions, asked without importing Dagster.

Why: the client is in Dagster, whose import takes longer than the question and its answer. An answer that is
not surely a list of repositories, such as an error with its stack, is left to that client.
Since: Dagster 1.5 or before: the method and how its answer begins.
"""

import grpc

METHOD = "/api.DagsterApi/ListRepositories"
LOADED = b'{"__class__": "ListRepositoriesResponse"'
"""How the text of the answer begins, behind the tag and the length of the field that it is in."""

HEAD_BYTES = 11
"""A tag of one byte, and a length of at most ten."""

ANSWERS_SECONDS = 60
NO_LIMIT = -1


def has_loaded(address: str) -> bool | None:
    """Return whether the server at an address has loaded; False if it does not answer, None if unclear.

    Args:
        address: host and port.
    """
    options = [("grpc.max_receive_message_length", NO_LIMIT)]
    with grpc.insecure_channel(address, options=options) as channel:
        try:
            answer: bytes = channel.unary_unary(METHOD)(b"", timeout=ANSWERS_SECONDS)
        except grpc.RpcError:
            return False
    return True if LOADED in answer[: HEAD_BYTES + len(LOADED)] else None

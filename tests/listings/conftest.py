"""The server of a test of the lists."""

from tests.server.conftest import empty_store, portal, server

__all__ = ["empty_store", "portal", "server"]

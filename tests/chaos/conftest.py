"""The databases of tests/store: `sql_url` is a new one of each kind, `postgres_server` a server."""

from tests.store.conftest import postgres_server as postgres_server
from tests.store.conftest import sql_url as sql_url

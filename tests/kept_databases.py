"""Databases in PostgreSQL that tests use one after the other: to make one costs a quarter of a second.

A database is made with all its tables. When its test has ended, it gets back what was in it at first, and the
next test takes it. One whose tables are no longer the same is left to itself.
"""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy

SHAPE = """
SELECT md5(string_agg(concat_ws(' ', c.oid, attname, atttypid, attnotnull), ',' ORDER BY c.oid, attnum)),
       (SELECT count(*) FROM pg_constraint), (SELECT count(*) FROM pg_attrdef)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0
"""
"""All tables, indexes and sequences with their columns; one that is made again has another number."""

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
SEQUENCES = "SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' ORDER BY 1"

END_OTHERS = """
SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""

EMPTY = """
DO $$ DECLARE name text; BEGIN
  FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' LOOP
    IF pg_relation_size('public.' || name) > 65536 THEN EXECUTE 'TRUNCATE public.' || name || ' CASCADE';
    ELSE EXECUTE 'DELETE FROM public.' || name; END IF;
  END LOOP;
END $$;
"""
"""To delete a few rows is quicker than to truncate a table, which makes new files of it and its indexes."""


class KeptDatabases:
    """Databases of a server with the same tables.

    Args:
        make: makes the tables in the new database at a URL.
    """

    def __init__(self, server: str, make: Callable[[str], None]) -> None:
        self._server, self._make = server, make
        self._free: list[str] = []
        self._first: dict[str, tuple[Any, str]] = {}

    def take(self, request: pytest.FixtureRequest) -> str:
        """The URL of a database that is the test's, or the fixture's, until its end."""
        url = self._free.pop() if self._free else self._new()
        request.addfinalizer(lambda: self._give_back(url))
        return url

    def _new(self) -> str:
        url = new_database(self._server)
        self._make(url)
        with _ask(url) as ask:
            ask(END_OTHERS)
            self._first[url] = ask(SHAPE), _keep_what_is_there(ask)
        return url

    def _give_back(self, url: str) -> None:
        shape, restore = self._first[url]
        with _ask(url) as ask:
            ask(END_OTHERS)
            if ask(SHAPE) == shape:
                ask(f"SET session_replication_role = replica; {EMPTY} {restore}")
                self._free.append(url)


def _keep_what_is_there(ask: Callable[[str], list[Any]]) -> str:
    """Copy all rows aside; return the statements that put them into empty tables again."""
    ask("CREATE SCHEMA first")
    restore = list[str]()
    for (table,) in ask(TABLES):
        if ask(f'SELECT 1 FROM public."{table}" LIMIT 1'):
            ask(f'CREATE TABLE first."{table}" AS SELECT * FROM public."{table}"')
            restore.append(f'INSERT INTO public."{table}" SELECT * FROM first."{table}";')
    for (name,) in ask(SEQUENCES):
        [(value, called)] = ask(f'SELECT last_value, is_called FROM public."{name}"')
        restore.append(f"SELECT setval('public.\"{name}\"', {value}, {called});")
    return " ".join((*restore, "SELECT 1"))


@contextmanager
def _ask(url: str) -> Iterator[Callable[[str], list[Any]]]:
    import psycopg2  # most tests need no server

    connection = psycopg2.connect(url.replace("+psycopg2", ""))
    connection.autocommit = True

    def ask(statement: str) -> list[Any]:
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall() if cursor.description else []

    try:
        yield ask
    finally:
        connection.close()


def new_database(server: str) -> str:
    """Create a database, and return its URL."""
    name = f"new_{uuid.uuid4().hex}"
    admin = sqlalchemy.create_engine(server, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(sqlalchemy.text(f"CREATE DATABASE {name}"))
    admin.dispose()
    return server.replace("/postgres?", f"/{name}?")

"""The version of the store's schema: whether it is current, and how to bring it up to date.

Every command and every tick opens the store, so the usual case is one SELECT. Alembic is
imported only when there is something to migrate. A migration holds the store's write lock
and is one transaction, so of two processes that open a new store at once, the second one
waits and then finds the work done; and a process that dies has done nothing.
"""

from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from tidegate.scheduler.store.error import StoreError, StoreMissing
from tidegate.scheduler.store.sql.connection.lock import (
    NOTHING_KEPT,
    begin_writing,
    lock_tables,
    store_errors,
)
from tidegate.scheduler.store.sql.connection.read_only import shown

FIRST = "0100"
"""The revision of the first release. Nothing brings up to date what an unreleased version made before it."""

HEAD = "0117"
"""The newest revision in `migrations/versions`; a test holds the two together."""

REVISION = text("SELECT version_num FROM alembic_version")

MIGRATIONS = Path(__file__).parent / "migrations"


def version(connection: Connection) -> str | None:
    """The schema's revision; None for a database without a store."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(REVISION).scalar()


def _found(engine: Engine) -> str | None:
    """Return the schema's revision, with one statement where there is a store."""
    with engine.connect() as connection:
        try:
            with connection.begin():
                return connection.execute(REVISION).scalar()
        except DBAPIError:
            # There is no such table, or the statement says nothing of the reason.
            with connection.begin():
                return version(connection)


def bring_up_to_date(
    engine: Engine, *, create: bool, may_migrate: bool = True, may_be_unreleased: bool = False
) -> None:
    """Migrate the schema to `HEAD` if it is missing or behind.

    Args:
        create: make the schema in a database that has none; False refuses instead.
        may_migrate: change an older schema; False refuses instead.
        may_be_unreleased: leave a schema from before `FIRST` as it is; False refuses it.

    Raises:
        StoreError: there is no store and `create` is off, or a newer or an unreleased version wrote it.
    """
    name = shown(engine.url)
    found = _found(engine)
    if found == HEAD:
        return
    if found is None and not create:
        raise StoreMissing(f"there is no store at {name}", "deploy first: `tidegate deploy` makes it")
    if found is not None and found > HEAD:
        raise StoreError(
            f"the store {name} has schema {found}, which a newer tidegate wrote; this one knows {HEAD}",
            "run it with the newer version",
        )
    if found is not None and found < FIRST:
        if may_be_unreleased:
            return
        raise StoreError(
            f"the store {name} has schema {found} of an unreleased tidegate; this one begins with {FIRST}",
            "export what you need and deploy again: `tidegate store export --to FILE` reads its journal; "
            "then move the store away, or name another, and run `tidegate deploy`",
        )
    if found is not None and not may_migrate:
        raise StoreError(
            f"the store {name} has the older schema {found}", "any command of people migrates it"
        )
    with store_errors(engine, NOTHING_KEPT), begin_writing(engine) as connection:
        if (behind := version(connection)) != HEAD:
            if behind is not None:
                lock_tables(connection)
            migrate(connection)
        connection.commit()


def migrate(connection: Connection) -> None:
    """Run every migration that is missing, in the connection's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    # A percent sign in a path would start an interpolation.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, HEAD)

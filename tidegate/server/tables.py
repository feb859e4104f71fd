"""Tables by the names of paths and bodies, and which of them a caller sees."""

from tidegate.domain.part_name import app_of
from tidegate.scheduler.explain.measured import known_tables
from tidegate.scheduler.explain.names import find_table
from tidegate.scheduler.model.maintenance import MAINTAINED_TABLES, TableState
from tidegate.scheduler.store.engine_reader import EngineReader
from tidegate.server.access import Caller
from tidegate.server.problem import Problem, refused_as
from tidegate.server.service import Service
from tidegate.server.visible import name_seen, named, visible_apps


class TablesSeen:
    """The tables that a caller sees: those of visible apps, and those of catalogs without a token for one."""

    def __init__(self, service: Service, reader: EngineReader, caller: Caller) -> None:
        self._apps = visible_apps(service, reader, caller)
        self._of_catalogs = caller.apps is None

    def __contains__(self, table: TableState) -> bool:
        if table.dataset is None:
            return self._of_catalogs
        return self._apps is None or app_of(table.dataset) in self._apps

    def names(self, reader: EngineReader) -> frozenset[str] | None:
        """Return the names of the tables that the caller sees, with those that are gone; None for all."""
        if self._apps is None:
            return None
        known = {table.name: table for table in (*known_tables(reader), *reader.records(MAINTAINED_TABLES))}
        return frozenset(name for name, table in known.items() if table in self)


def table_named(service: Service, reader: EngineReader, caller: Caller, name: str) -> TableState:
    """Return the table of a name: any of its whole names, or an end of them that only one table has.

    Raises:
        Problem: 404 for an unknown one, 409 for a name of several, 403 for one of another app than the
            token's.
    """
    seen = TablesSeen(service, reader, caller)
    with refused_as(404), named():
        name = name_seen(reader, caller, name)
        table = find_table(reader, name, seen.__contains__)
    return _checked(seen, caller, [table], name)


def table_at(
    service: Service, reader: EngineReader, caller: Caller, catalog: str, namespace: str, table: str
) -> TableState:
    """Return the table in a namespace of a catalog; a dataset is in the namespace of its app, too.

    Args:
        catalog: "" for any.

    Raises:
        Problem: see `table_named`.
    """
    whole, dataset = f"{catalog}.{namespace}.{table}", f"{namespace}/{table}"

    def fits(found: TableState) -> bool:
        if catalog:
            return whole in (found.name, found.catalog_name)
        ends = (name.partition(".")[2] for name in (found.name, found.catalog_name))
        return found.name == dataset or f"{namespace}.{table}" in ends

    named_so = [found for found in known_tables(reader) if fits(found)]
    name = whole.removeprefix(".")
    return _checked(TablesSeen(service, reader, caller), caller, named_so, name)


def _checked(seen: TablesSeen, caller: Caller, found: list[TableState], name: str) -> TableState:
    """Return the only one of some tables that the caller sees."""
    shown = [table for table in found if table in seen]
    if len(shown) > 1:
        names = ", ".join(table.name for table in shown)
        raise Problem(409, f'{len(shown)} tables have the name "{name:.200}"', hint=f"name one of {names}")
    if shown:
        return shown[0]
    for table in found:
        if table.dataset is None:
            caller.check_all_apps()
        else:
            caller.check_app(app_of(table.dataset))
    raise Problem(404, f'E-TABLE: no table "{name:.200}" is known', code="E-TABLE")

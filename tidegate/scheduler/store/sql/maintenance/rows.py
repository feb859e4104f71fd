"""The codecs of the tables of maintenance; see `sql.statements.rows`."""

from tidegate.scheduler.model.maintenance import OperationRun, Record, TableState
from tidegate.scheduler.store.sql.columns import Codec
from tidegate.scheduler.store.sql.maintenance import tables

TABLES = Codec(tables.maintained_tables, TableState)
RECORDS = Codec(tables.maintenance_records, Record)
OPERATION_RUNS = Codec(
    tables.operation_runs,
    OperationRun,
    derived={"running_until": lambda run: run.closes_at if run.ending is None else None},
)
RECORD_KEY = ("policy", "operation", "table")

"""What deployments wrote, in SQL."""

from collections.abc import Collection

from sqlalchemy import BigInteger, Column, Index, Table, bindparam, func, select

from tidegate.scheduler.model.records.specification import Specification
from tidegate.scheduler.store.sql.columns import Bytes, Codec, Name
from tidegate.scheduler.store.sql.metadata import metadata
from tidegate.scheduler.store.sql.statements.queries import Queries, every

specifications = Table(
    "specifications",
    metadata,
    Column("ref", Name, primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("content", Bytes(), nullable=False),
    Column("app", Name, nullable=False),
)
Index("ix_specifications_app", specifications.c.app, specifications.c.number)
Index("ix_specifications_number", specifications.c.number)

SPECIFICATIONS = Codec(specifications, Specification, derived={"app": lambda each: each.app})
_TABLE = specifications.c
_OTHER = specifications.alias("later")
_UNTIL = bindparam("until", type_=BigInteger)
_NEWEST = (
    select(func.max(_OTHER.c.number))
    .where(_OTHER.c.ref == _TABLE.ref, _OTHER.c.number <= _UNTIL)
    .scalar_subquery()
)
UNTIL = every(SPECIFICATIONS).where(_TABLE.number == _NEWEST).order_by(_TABLE.ref)


class SpecificationReader(Queries):
    def specifications(self, until: int, *, apps: Collection[str] | None = None) -> tuple[Specification, ...]:
        return tuple(self._all(UNTIL, SPECIFICATIONS.value, {_TABLE.app: apps}, until=until))

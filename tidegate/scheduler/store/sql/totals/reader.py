"""The reader of totals, and the ledger made of them and of what is not finished."""

from collections import Counter
from functools import cache
from typing import Any

from sqlalchemy import bindparam, select

from tidegate.domain.part_name import app_of
from tidegate.scheduler.model.job import UNFINISHED
from tidegate.scheduler.store.answers import LedgerRow
from tidegate.scheduler.store.ledger import ledger_rows, outcome_of
from tidegate.scheduler.store.sql import tables
from tidegate.scheduler.store.sql.columns import LAST_CODE_POINT
from tidegate.scheduler.store.sql.counted_events import counted
from tidegate.scheduler.store.sql.statements.bulk import in_query
from tidegate.scheduler.store.sql.statements.queries import LIMIT, Queries, Statement
from tidegate.scheduler.store.sql.totals.tables import LEDGER, OUTCOMES, totals

_UNFINISHED = select(tables.jobs.c.id).where(tables.jobs.c.state.in_(UNFINISHED)).scalar_subquery()
_OF_KIND = (totals.c.kind == bindparam("kind"), totals.c.number != 0)
_AFTER, _UNTIL = totals.c.place > bindparam("after"), totals.c.place <= bindparam("until")
TOTALS = select(totals.c.place, totals.c.label, totals.c.reason, totals.c.number).where(*_OF_KIND)
TOTALS_BETWEEN = TOTALS.where(_AFTER, _UNTIL)
PLACES_BETWEEN = select(totals.c.place).distinct().where(*_OF_KIND, _AFTER, _UNTIL)
FIRST_PLACES = PLACES_BETWEEN.order_by(totals.c.place).limit(LIMIT)


@cache
def _live(dialect: str, *, of_app: bool) -> tuple[Statement, Statement]:
    """Return the queries for events of unfinished jobs, and for those that were discarded on arrival."""
    delivery = tables.deliveries.c
    narrowed = [delivery.schedule > bindparam("after"), delivery.schedule <= bindparam("until")]
    more = narrowed if of_app else []
    unfinished = in_query(dialect, delivery.job, _UNFINISHED)
    return counted([unfinished, *more]), counted([delivery.job == tables.NO_JOB, *more])


class TotalReader(Queries):
    """Reads totals."""

    def ledger(
        self, *, app: str | None = None, after: str = "", limit: int | None = None
    ) -> tuple[LedgerRow, ...]:
        prefix = "" if app is None else f"{app}/"
        until = f"{prefix}{LAST_CODE_POINT}"
        groups = [row for row in self._live(prefix, until) if row.schedule > after]
        between = {"kind": LEDGER, "after": max(prefix, after), "until": until}
        if limit is not None:
            first = self._connection.execute(FIRST_PLACES, {**between, "limit": limit}).scalars()
            names = sorted({*first, *(row.schedule for row in groups)})[:limit]
            between["until"] = until = names[-1] if names else ""
        found = self._connection.execute(TOTALS_BETWEEN, between).all()
        return ledger_rows(
            ((row.schedule, row.state, row.reason, row.events) for row in groups if row.schedule <= until),
            ((row.place, row.label, row.reason, row.number) for row in found),
        )

    def _outcomes(self) -> Counter[tuple[str, str, str]]:
        """Return the events of each app by outcome and reason."""
        found: Counter[tuple[str, str, str]] = Counter()
        for app, outcome, reason, number in self._totals(OUTCOMES):
            found[app, outcome, reason] += number
        for row in self._live("", ""):
            found[app_of(row.schedule), *outcome_of(row.state, row.reason)] += row.events
        return found

    def _live(self, after: str, until: str) -> list[Any]:
        """Return the groups of events that the totals do not have; of all schedules without `after`."""
        queries = _live(self._dialect, of_app=bool(after))
        given = {"after": after, "until": until} if after else {}
        return [row for query in queries for row in self._connection.execute(query, given)]

    def _totals(self, kind: str) -> list[Any]:
        """Return place, label, reason and number of each total of a kind."""
        return list(self._connection.execute(TOTALS, {"kind": kind}).all())

"""The events of schedules by outcome as all faces show them, and the list of them."""

from tidegate.domain.part_name import app_of
from tidegate.listings.ledger import Balance
from tidegate.listings.read import Asked
from tidegate.scheduler.store.answers import LedgerRow


def public_balance(row: LedgerRow) -> Balance:
    """Return what of a row of the ledger all faces show."""
    return Balance(
        schedule=row.schedule,
        landed=row.landed,
        consumed=row.consumed,
        succeeded=row.succeeded,
        running=row.running,
        failed=sum(row.failed.values()),
        pending=row.pending,
        discarded=sum(row.discarded.values()),
        failures=row.failed,
        reasons=row.discarded,
    )


def list_balances(asked: Asked) -> list[Balance]:
    """Return the first schedules that match; of a schedule its own line, also if it is deleted."""
    ref, after = asked.wanted.get("schedule"), "" if asked.after is None else asked.after[0]
    if ref is not None:
        rows = asked.reader.ledger(app=app_of(ref)) if asked.sees(app_of(ref)) else ()
        return [public_balance(row) for row in rows if row.schedule == ref]
    found = list[LedgerRow]()
    # An app after the other is their order too.
    for app in (None,) if asked.apps is None else sorted(asked.apps):
        found += asked.reader.ledger(app=app, after=after, limit=asked.limit)
        if len(found) >= asked.limit:
            break
    return [public_balance(row) for row in found]

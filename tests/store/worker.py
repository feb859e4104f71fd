"""What another process does with a store: `python -m tests.store.worker URL WHAT [ARGUMENT]`.

open       opens the store, which makes it if it is new
count N    adds one to the cursor "count", N times, each in a transaction of its own
half       writes half of a transaction, says so, and never ends it
"""

import sys

from tests.worlds.samples import event, job
from tidegate.scheduler.model.deployed import APPS
from tidegate.scheduler.store.open import open_store


def main(url: str, what: str, argument: str = "") -> None:
    """Do it."""
    store = open_store(url)
    match what:
        case "open":
            with store.reading() as reader:
                assert reader.records(APPS) == ()
        case "count":
            for _ in range(int(argument)):
                with store.transaction() as transaction:
                    transaction.set_cursor("count", (transaction.cursor("count") or 0) + 1)
        case "half":
            with store.transaction() as transaction:
                transaction.set_cursor("c", "half")
                transaction.add_events([event(f"e{n}") for n in range(5000)])
                transaction.put_jobs([job("j", detail="half")])
                print("half way", flush=True)
                sys.stdin.read()
        case _:
            raise SystemExit(f"unknown: {what}")
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

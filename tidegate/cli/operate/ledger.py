"""`tidegate ledger`: the balance of every schedule's events.

landed = consumed by a run + pending in a job + discarded with a reason, and consumed = succeeded + running +
failed with a reason. Both are sums of the counts in the store, so every printed row balances.
"""

from tidegate.cli.listing import Part, Parts, list_command
from tidegate.cli.printing import NUMBER_MAX
from tidegate.listings.ledger import LEDGER

ledger = list_command(
    LEDGER,
    lambda given, _: Parts([Part("", given)], "No event has been delivered to a schedule yet."),
    limit=200,
    json_limit=NUMBER_MAX,
)

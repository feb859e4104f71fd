"""All lists. A new one is its declaration, its query and a line here."""

from tidegate.listings.alerts import ALERTS
from tidegate.listings.backfills import BACKFILLS
from tidegate.listings.checks import CHECKS
from tidegate.listings.commits import COMMITS
from tidegate.listings.deployments import DEPLOYMENTS
from tidegate.listings.events import EVENTS
from tidegate.listings.gauges import GAUGES
from tidegate.listings.instances import INSTANCES
from tidegate.listings.jobs import JOBS
from tidegate.listings.late import LATE
from tidegate.listings.ledger import LEDGER
from tidegate.listings.listing import Listing
from tidegate.listings.overrides import OVERRIDES
from tidegate.listings.schedules import SCHEDULES
from tidegate.listings.tables import TABLES
from tidegate.listings.tasks import TASKS
from tidegate.listings.watermarks import WATERMARKS

LISTINGS: dict[str, Listing] = {
    each.name: each
    for each in (
        ALERTS,
        BACKFILLS,
        CHECKS,
        COMMITS,
        DEPLOYMENTS,
        EVENTS,
        GAUGES,
        INSTANCES,
        JOBS,
        LATE,
        LEDGER,
        OVERRIDES,
        SCHEDULES,
        TABLES,
        TASKS,
        WATERMARKS,
    )
}
"""By name."""

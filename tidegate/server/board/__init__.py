"""The board: pages for people, of the same process and the same store as the REST calls."""

from fastapi import APIRouter

from tidegate.listings.ledger import LEDGER
from tidegate.server.board import (
    assets,
    backfills,
    commits,
    day,
    deployments,
    jobs,
    listing,
    maintenance,
    schedules,
    search,
    session,
    subjects,
)
from tidegate.server.board.datasets import pages as datasets
from tidegate.server.board.ledger import whole_ledger
from tidegate.server.board.now import pages as now

listing.add_page(LEDGER, template="ledger", more=whole_ledger)

BOARD: tuple[APIRouter, ...] = (
    assets.router,
    session.pages,
    session.router,
    search.router,
    subjects.router,
    now.router,
    schedules.router,
    jobs.router,
    datasets.router,
    day.router,
    backfills.router,
    maintenance.router,
    commits.router,
    listing.router,
    deployments.router,
)
"""The pages, with whole paths."""

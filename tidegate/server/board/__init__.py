"""The board: pages for people, of the same process and the same store as the REST calls."""

from fastapi import APIRouter

from tidegate.server.board import assets, day, jobs, maintenance, now, records, schedules, session
from tidegate.server.board.datasets import pages as datasets

BOARD: tuple[APIRouter, ...] = (
    assets.router,
    session.router,
    now.router,
    schedules.router,
    jobs.router,
    datasets.router,
    day.router,
    records.router,
    maintenance.router,
)
"""The pages, with whole paths."""

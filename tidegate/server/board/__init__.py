"""The board: pages for people, of the same process and the same store as the REST calls."""

from fastapi import APIRouter

from tidegate.server.board import assets, datasets, day, jobs, maintenance, now, records, schedules, session

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

"""The lists whose paths are their own names."""

from fastapi import APIRouter

from tidegate.listings.declared import LISTINGS
from tidegate.server.listing import add_route

router = APIRouter()

for name in (
    "alerts",
    "backfills",
    "deployments",
    "events",
    "instances",
    "jobs",
    "late",
    "overrides",
    "commits",
    "tasks",
):
    add_route(router, LISTINGS[name])

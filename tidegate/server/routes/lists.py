"""The lists whose paths are their own names: all but the tables of maintenance, which are in no namespace."""

from fastapi import APIRouter

from tidegate.listings.declared import LISTINGS
from tidegate.server.listing import add_route

router = APIRouter()

for name, listing in LISTINGS.items():
    if name != "tables":
        add_route(router, listing)

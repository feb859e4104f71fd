"""An app with a dataset of each cycle, and of each other kind of partitions."""

from typing import Any

START = "2025-06-01"
DATASETS: dict[str, Any] = {
    "days": {"partitions": {"cycle": "day", "start": START}},
    "feeds": {"partitions": {"day": {"cycle": "day", "start": START}, "region": ["north", "south"]}},
    "airports": {"partitions": {"day": {"cycle": "day", "start": START}, "airport": ["EWR", "JFK"]}},
    "hours": {"partitions": {"cycle": "hour", "start": "2026-03-01", "timezone": "America/New_York"}},
    "minutes": {"partitions": {"cycle": "minute", "start": "2026-03-01"}},
    "weeks": {"partitions": {"cycle": "week", "start": "2025-06-01"}},
    "months": {"partitions": {"cycle": "month", "start": "2024-01-01"}},
    "years": {"partitions": {"cycle": "year", "start": "2015-01-01"}},
    "regions": {"partitions": {"region": ["north", "south", "west"]}},
    "whole": {},
    "due": {"partitions": {"day": {"cycle": "day", "start": START}, "region": ["n", "s"]}, "deadline": "2h"},
    "wide": {
        "partitions": {"hour": {"cycle": "hour", "start": START}, "shop": [f"s{n:02}" for n in range(50)]}
    },
}
SPEC: dict[str, Any] = {"app": "cal", "datasets": DATASETS, "programs": {}, "schedules": {}}

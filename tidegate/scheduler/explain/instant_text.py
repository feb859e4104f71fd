"""An instant in the texts for people."""

from datetime import datetime


def instant_text(instant: datetime) -> str:
    """Return an instant in UTC, to the second: "2026-03-10 06:00:00Z"."""
    return f"{instant:%Y-%m-%d %H:%M:%SZ}"

"""The URL of a store as messages show it: without a password, wherever the URL has it."""

from sqlalchemy import URL

HIDDEN = "***"
SECRET_OPTIONS = ("password", "passfile", "sslpassword")
"""Options of PostgreSQL's client that are secret or lead to a secret."""


def shown(url: URL) -> str:
    """Return a URL without passwords."""
    query = {name: HIDDEN if name in SECRET_OPTIONS else value for name, value in url.query.items()}
    return url.set(query=query).render_as_string()

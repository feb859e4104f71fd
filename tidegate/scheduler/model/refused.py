"""Refused requests: a message and a hint on what to do instead."""

from tidegate.domain.error import UserError


class Refused(UserError):
    """A request of a person that cannot be carried out."""

"""What the engine refuses to do for a person, with what to do instead."""

from tidegate.domain.error import UserError


class Refused(UserError):
    """A request that cannot be done."""

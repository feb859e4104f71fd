"""The error of a store that cannot be used: unreachable, not a store, too new, or locked for too long.

Its message names the store's address, but never its password.
"""

from tidegate.domain.error import UserError


class StoreError(UserError):
    """The store cannot be used."""


class StoreReadOnly(StoreError):
    """This user may not write the store, or not even read it."""


class StoreAway(StoreError):
    """The store's server is away, perhaps for seconds: it was restarted, or another takes its place."""


class StoreBusy(StoreError):
    """Another process writes to the store, for longer than this one may wait."""


class StoreMissing(StoreError):
    """There is no store at this address yet."""

"""The error of a store that cannot be used: unreachable, not a store, too new, or locked for too long.

It is raised for what a person can put right, so it carries the remedy beside the message.
The command line prints both; nothing here prints.
"""


class StoreError(Exception):
    """The store cannot be used.

    Attributes:
        message: what is wrong, with the store's address but never its password.
        hint: what to do about it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(f"{message} ({hint})" if hint else message)
        self.message = message
        self.hint = hint


class StoreMissing(StoreError):
    """There is no store at this address yet."""

"""What the engine refuses to do for a person, said so that the person can mend it."""


class Refused(Exception):
    """A request that cannot be done.

    Attributes:
        message: what is wrong, with the value that was given.
        hint: what to do instead.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

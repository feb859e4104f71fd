"""What a person can put right, as an exception with a message and a hint.

Every package derives its own errors of this kind from `UserError`: what the engine refuses, a store that
cannot be used, a wrong setting, a program whose output does not fit. The command line prints each of
them as `error:` and `hint:` in one place (`tidegate.cli.main`), without a traceback. Any other exception
is a bug and keeps its traceback.
"""


class UserError(Exception):
    """A mistake, or a missing thing, that a person can put right.

    Attributes:
        message: what is wrong and where; printed after "error: ".
        hint: what to do about it; printed after "hint: ". May be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """One line, for logs and for what is kept of a failure."""
        return f"{self.message}; {self.hint}" if self.hint else self.message

"""The base of errors that a person can fix: an exception with a message and a hint.

Every package derives its own errors from `UserError`: a refused command, a store that cannot be used, a
wrong setting, an output that does not fit. `tidegate.cli.main` prints each of them as `error:` and
`hint:`, without a traceback. Any other exception is a bug and keeps its traceback.
"""


class UserError(Exception):
    """An error that a person can fix.

    Attributes:
        message: what is wrong and where; printed after "error: ".
        hint: how to fix it; printed after "hint: ". May be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        """Return one line, for logs and stored failures."""
        return f"{self.message}; {self.hint}" if self.hint else self.message


class WrongUsage(UserError):
    """An argument or option of the command line that means nothing, such as a malformed instant."""

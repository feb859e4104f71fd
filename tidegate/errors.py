"""What a user can do wrong, as one exception that the command line prints without a traceback.

Library packages below the shell have errors of their own; commands turn those that a user
can cause into a `UserError`. Anything else is a bug and keeps its traceback.
"""


class UserError(Exception):
    """A mistake or a missing thing that the user can put right.

    Attributes:
        message: what is wrong and where; printed after "error: ".
        hint: what to do about it; printed after "hint: ". May be empty.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message

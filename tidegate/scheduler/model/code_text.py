"""What people read about a code: its meaning, its cause and its remedy."""

from tidegate.domain.value import Value


class CodeText(Value, kw_only=True):
    """The text of a code, in Markdown; links are relative to docs/.

    Attributes:
        meaning: in a few words; "" where the code has a summary elsewhere.
        cause: what has led to it.
        remedy: what to do, or what ends the wait.
    """

    meaning: str = ""
    cause: str
    remedy: str

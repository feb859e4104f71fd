"""The changes of commits and watermarks of which a command of a person may leave an entry in the journal."""

from enum import StrEnum


class Deed(StrEnum):
    """A change that a transaction of the store makes."""

    PUT = "put"
    FINISH = "finish"
    ABANDON = "abandon"
    ABANDON_OUTPUT = "abandon-output"
    RAISE_TOKEN = "raise-token"
    FORGET = "forget"

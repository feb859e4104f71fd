"""References to variables in texts: `${env.NAME}`, in YAML files and in `tidegate.toml`.

`$${env.NAME}` is the text `${env.NAME}` itself; any other `${…}` is left as it is. This module knows the
form only: where the values come from says `project/settings/environments.py`, where references are legal
say the readers of the two files.
"""

import re
from collections.abc import Callable, Mapping

from tidegate.domain.error import UserError

_REFERENCE = re.compile(r"(\$?)\$\{env\.([^}]*)(\}?)")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LIKE_A_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
MAX_EXPANDED_CHARACTERS = 100_000
"""A longer text is most likely the wrong variable."""

_SECRET = re.compile(
    r"PASSWORD|PASSWD|PASSPHRASE|SECRET|CREDENTIAL|(API|ACCESS|PRIVATE)[_.-]?KEY|(^|[_.-])TOKENS?($|[_.-])",
    re.IGNORECASE,
)


class VariableError(UserError, ValueError):
    """A reference that cannot be replaced.

    Attributes:
        name: the variable that is not set; "" where the reference itself is malformed.
    """

    def __init__(self, message: str, hint: str, name: str = "") -> None:
        super().__init__(message, hint)
        self.name = name


def looks_secret(name: str) -> bool:
    """Whether the name of a variable or a setting says that its value is a secret."""
    return _SECRET.search(name) is not None


def shown_variable(name: str) -> str:
    """Return the name of a variable for a message; what does not look like one may be the secret itself."""
    return name if is_like_a_variable(name) else "(not shown: it does not look like a variable's name)"


def is_like_a_variable(name: str) -> bool:
    """Whether a text looks like the name of a variable, and may be printed."""
    return _LIKE_A_VARIABLE.fullmatch(name) is not None


def names_in(text: str) -> tuple[str, ...]:
    """Return the names of the variables that a text refers to, without duplicates."""
    found = (match[2] for match in _REFERENCE.finditer(text) if not match[1])
    return tuple(dict.fromkeys(found))


def escaped_variables(text: str) -> str:
    """Return a text whose expansion is the text itself, whatever it looks like."""
    return _REFERENCE.sub(lambda match: f"${match[0]}", text)


def expanded(
    text: str, variables: Mapping[str, str], escape: Callable[[str, int], str] = lambda value, _: value
) -> str:
    """Return a text with the values of its references.

    Args:
        escape: returns a value as it has to be written at an offset of the text.

    Raises:
        VariableError: a variable is not set, or a reference is malformed.
    """

    def value(match: re.Match[str]) -> str:
        dollar, name, end = match.groups()
        if dollar:
            return match[0][1:]
        if not end or NAME.fullmatch(name) is None:
            raise VariableError(
                f"a reference is `${{env.NAME}}`, got {match[0][:60]!r}",
                "a name is of letters, digits and `_`; write $${env. for the text itself",
            )
        if name not in variables:
            raise VariableError(
                f"the variable {name} is not set",
                f"set {name} in the environment of the process, or give it a value in [project.variables] of"
                " tidegate.toml",
                name,
            )
        return escape(variables[name], match.start())

    found = _REFERENCE.sub(value, text)
    if len(found) > MAX_EXPANDED_CHARACTERS:
        raise VariableError(
            f"a text with its variables has at most {MAX_EXPANDED_CHARACTERS:,} characters,"
            f" got {len(found):,}",
            "look for the wrong variable",
        )
    return found

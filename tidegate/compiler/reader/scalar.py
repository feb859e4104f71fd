"""Plain scalars, resolved by the core schema of YAML 1.2 and not of YAML 1.1.

So `no`, `22:30`, `1_000` and `2013-01-01` are strings, `010` is the integer 10, and only `true`, `false`
and `null` (with their capitalised forms) are booleans and null. Source: YAML 1.2.2, section 10.3.2.

Variables in the values of a YAML file, replaced before a plain scalar is resolved. A value that is one
plain reference is what the variable would be at that place, also a number or `true`; a quoted one is a
text. The result is what is deployed, so a deployment does not depend on the environment of the processes
that work with it later, and secrets are refused.
"""

import re
from collections.abc import Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings, Place
from tidegate.compiler.reader.text import suspect_character
from tidegate.domain.error import UserError
from tidegate.domain.variables import VariableError, expanded, looks_secret, names_in


def with_variables(text: str, variables: Mapping[str, str], findings: Findings, place: Place) -> str:
    """Return a text with the values of its references; report what cannot be replaced, and return ""."""
    for name in names_in(text):
        if looks_secret(name):
            summary = f"a secret is not written into the YAML, got the variable {name!r}"
            hint = f'let the program read it: os.environ["{name[:60]}"]'
            findings.add("R121", place, summary, hint)
            return ""
    try:
        found = expanded(text, variables)
    except VariableError as error:
        got = f", got {text[:60]!r}" if error.name else ""
        findings.add("R120" if error.name else "R122", place, f"{error.message}{got}", error.hint)
        return ""
    character = suspect_character(found)
    if character is not None:
        findings.add(
            "R122",
            place,
            f"a variable has no invisible characters, got U+{ord(character):04X} in {text[:60]!r}",
            "set the variable again without it",
        )
        return ""
    return found


MAX_INTEGER_DIGITS = 18
"""Every such integer fits 64 bits, so it survives JSON, the databases and other languages."""

MAX_FLOAT_CHARACTERS = 40
"""No float needs more characters; a longer one is a mistake or an attack."""

_NULL = frozenset(("", "~", "null", "Null", "NULL"))
_TRUE = frozenset(("true", "True", "TRUE"))
_FALSE = frozenset(("false", "False", "FALSE"))
_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_ZEROS_BEFORE = re.compile(r"[-+]?0[0-9]+\Z")
_OCTAL = re.compile(r"0o[0-7]+\Z")
_HEX = re.compile(r"0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_NOT_FINITE = re.compile(r"([-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))\Z")


class ScalarError(UserError, ValueError):
    """A plain scalar that is a number, but is too long or not finite.

    Attributes:
        code: of the diagnostic.
    """

    def __init__(self, code: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.code = code


def resolve(text: str) -> bool | int | float | str | None:
    """Return the value of a plain (unquoted) scalar.

    Raises:
        ScalarError: for a number that is too long or not finite.
    """
    if text in _NULL:
        return None
    first = text[0]
    if first in "tTfF":
        return True if text in _TRUE else False if text in _FALSE else text
    if first not in "0123456789+-.":
        return text
    if _INTEGER.match(text):
        _refuse_long(text, len(text.lstrip("+-0")))
        return int(text)
    if _OCTAL.match(text):
        _refuse_long(text, len(text) - 2)
        return int(text, 0)
    if _HEX.match(text):
        _refuse_long(text, len(text) - 2)
        return _bounded(int(text, 0), text)
    if _FLOAT.match(text):
        return _float(text)
    if _NOT_FINITE.match(text):
        raise ScalarError(
            "R118",
            f'a number must be finite, got "{text}"',
            "JSON has no such number: quote it, or write a finite one",
        )
    return text


def resolve_option(text: str) -> bool | int | float | str | None:
    """Return the value of a plain scalar of an option of the command line.

    `007` stays a text: a shell takes quotes away, and what begins with zeros there is an identifier.

    Raises:
        ScalarError: see `resolve`.
    """
    return text if _ZEROS_BEFORE.match(text) else resolve(text)


def _refuse_long(text: str, digits: int) -> None:
    """Refuse an integer by its length, without the cost of converting thousands of digits."""
    if digits > MAX_INTEGER_DIGITS:
        raise ScalarError(
            "R117",
            f'an integer has at most {MAX_INTEGER_DIGITS} digits, got {digits}: "{text[:20]}…"',
            "write it in quotes if it is an identifier and not a number",
        )


def _bounded(value: int, text: str) -> int:
    if value >= 10**MAX_INTEGER_DIGITS:
        _refuse_long(text, MAX_INTEGER_DIGITS + 1)
    return value


def _float(text: str) -> float:
    if len(text) > MAX_FLOAT_CHARACTERS:
        raise ScalarError(
            "R117",
            f'a number has at most {MAX_FLOAT_CHARACTERS} characters, got {len(text)}: "{text[:20]}…"',
            "round it, or write it in quotes if it is not a number",
        )
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ScalarError(
            "R118",
            f'a number must be finite, got "{text}"',
            "the largest number is about 1.7e308: write less",
        )
    return value

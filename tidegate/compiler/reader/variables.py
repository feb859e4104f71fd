"""Variables in the values of a YAML file, replaced before a plain scalar is resolved.

A value that is one plain reference is what the variable would be at that place, also a number or `true`; a
quoted one is a text. The result is what is deployed, so a deployment does not depend on the environment of
the processes that work with it later, and secrets are refused.
"""

from collections.abc import Mapping

from tidegate.compiler.diagnostics.diagnostic import Findings, Place
from tidegate.compiler.reader.text import suspect_character
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

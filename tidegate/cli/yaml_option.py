"""Options whose value is YAML: `--set KEY=YAML` and `--arg NAME=YAML`.

A value means what it means in a file of an app, since the compiler reads both: `NO`, `22:30` and dates are
texts.
"""

from typing import Any

from tidegate.domain.error import WrongUsage


def yaml_option(option: str, text: str, form: str, example: str) -> tuple[str, Any]:
    """Return the name and the value of an option.

    Args:
        form: what is expected, such as "KEY=YAML".
        example: a good one, for the hint.

    Raises:
        WrongUsage: there is no name, or the value is not YAML or not allowed in a file.
    """
    from tidegate.compiler.reader import read_option

    name, equals, written = text.partition("=")
    if not (name and equals):
        raise WrongUsage(f"{option} must be {form}, got {text!r:.100}", f"for example {option} {example}")
    value, findings = read_option(written)
    for diagnostic in findings.diagnostics():
        raise WrongUsage(f"the value of {option} {name:.100}: {diagnostic.summary}", diagnostic.hint)
    return name, value

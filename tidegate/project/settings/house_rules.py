"""The section `[lint]`: the rules that a project adds, as a value of the compiler."""

import re
from pathlib import Path

import msgspec

from tidegate.compiler.rules.house import HouseRules
from tidegate.project.settings.language import LintSection, SettingsError


def house_rules(file: Path, section: LintSection) -> HouseRules:
    """Return the rules of `[lint.rules]`.

    Raises:
        SettingsError: there is no such rule, or its value is wrong.
    """
    hint = "see `tidegate docs settings`, and docs/operating.md for an example of each rule"
    try:
        rules = msgspec.convert(section.rules, HouseRules)
    except msgspec.ValidationError as error:
        raise SettingsError(f"{file}: lint.rules: {error}", hint) from error
    if rules.name is not None:
        try:
            re.compile(rules.name.pattern)
        except re.error as error:
            raise SettingsError(f"{file}: lint.rules.name is not a pattern: {error}", hint) from error
    return rules

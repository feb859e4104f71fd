"""The content of `tidegate.toml` as the values of its language, and what is wrong with it.

A message names the file, the section and the key, and what to write instead.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import listed, shown
from tidegate.project.settings.language import SECTIONS, SettingsError, SettingsFile, keys_of


def check_sections(file: Path, content: dict[str, Any]) -> None:
    """Check that a settings file, or an environment in it, has known sections only.

    Raises:
        SettingsError: for the first mistake.
    """
    for name, section in content.items():
        if name not in SECTIONS:
            hint = did_you_mean(name, SECTIONS, "sections", whole=True)
            raise SettingsError(f'{file}: unknown section "{name}"', hint)
        if not isinstance(section, dict):
            raise SettingsError(f"{file}: {name} must be a section", f"write [{name}] and its keys below")


def check_keys(file: Path, content: dict[str, Any]) -> None:
    """Check that sections have known keys only.

    Raises:
        SettingsError: for the first mistake.
    """
    check_sections(file, content)
    for name, section in content.items():
        _check_keys(file, name, section)


def decode(file: Path, content: dict[str, Any]) -> SettingsFile:
    """Decode the content of a settings file.

    Raises:
        SettingsError: for the first mistake.
    """
    check_sections(file, content)
    return SettingsFile(**{name: _section(file, name, section) for name, section in content.items()})


def flat(place: str, table: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Return nested settings of another program by dotted names, quoted in the TOML or not."""
    found: dict[str, str] = {}
    for key, value in table.items():
        name = prefix + key
        if isinstance(value, dict):
            found |= flat(place, value, name + ".")
        elif isinstance(value, bool):
            found[name] = str(value).lower()
        elif isinstance(value, str | int | float):
            found[name] = str(value)
        else:
            raise SettingsError(f"{place} {name} is {value!r:.100}", f'write "{name}" = "..."')
    return found


def _section(file: Path, name: str, content: dict[str, Any]) -> Any:
    try:
        return msgspec.convert(content, SECTIONS[name])
    except msgspec.ValidationError as error:
        keys = _check_keys(file, name, content)
        # msgspec ends its message with the path of the value: " - at `$.tick_seconds`".
        found = re.search(r"`\$\.(\w+)", str(error))
        key = found[1] if found else next(iter(content))
        meta, value = keys[key], content[key]
        got = repr(value)[:100] if isinstance(value, list | dict) else shown(value)
        summary = f"{file}: {name}.{key} must be {meta.title}, got {got}"
        raise SettingsError(summary, _remedy(name, key, meta)) from error


def _check_keys(file: Path, name: str, content: dict[str, Any]) -> dict[str, msgspec.Meta]:
    keys = keys_of(SECTIONS[name])
    for key in content:
        if key not in keys:
            owners = [f"[{other}]" for other in SECTIONS if key in keys_of(SECTIONS[other])]
            hint = (
                f"`{key}` belongs to {listed(owners)}"
                if owners
                else did_you_mean(key, keys, "keys", whole=True)
            )
            raise SettingsError(f'{file}: unknown key "{key}" in [{name}]', hint)
    return keys


def _remedy(section: str, key: str, meta: msgspec.Meta) -> str:
    if meta.title == "a table":
        return f"write [{section}.{key}] and the settings below it"
    return f"write for example {key} = {(meta.examples or [''])[0]}"

"""Environments: profiles of `tidegate.toml`, merged over its other sections, and the variables in its values.

    [env.prod.store]                                   --env prod, or TIDEGATE_ENV=prod, lets this section
    url = "postgresql://tidegate:${env.PW}@db/store"   replace the keys of [store] that it names

Tables such as `[spark.conf]` are merged key by key, everything else is replaced. Then each `${env.NAME}` in a
text becomes the variable of the process, or its value in `[project.variables]`. A value that came from a
variable may be a secret, so no message shows it.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast
from urllib.parse import quote

from tidegate.domain.suggest import did_you_mean
from tidegate.domain.variables import NAME, VariableError, expanded, looks_secret, names_in
from tidegate.project.environment import ENVIRONMENT_VARIABLE, STORE_VARIABLE
from tidegate.project.settings.decode import check_keys
from tidegate.project.settings.language import SettingsError

MAX_SETTINGS_BYTES = 256 * 1024
PROFILES = "env"
"""The section that holds the environments."""

LEAST_HIDDEN_CHARACTERS = 4
"""Shorter values are in every word; they are hidden only if the variable is named as a secret."""

Content = dict[str, Any]
"""The settings file as TOML values: sections by name."""


class Resolved(NamedTuple):
    """The settings of one environment, with the values of their variables.

    Attributes:
        content: as if the file had only these sections.
        environment: its name; "" for none.
        variables: the values of `${env.NAME}`, for YAML files too.
        hidden: what to show in messages in place of each value that came from a variable.
        unset: what each key lacks that refers to a variable without a value; such a key is left out.
    """

    content: Content
    environment: str
    variables: Mapping[str, str]
    hidden: Mapping[str, str]
    unset: tuple[str, ...]

    def shown(self, text: str) -> str:
        """Return a text without values of variables."""
        for value, reference in sorted(self.hidden.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(value, reference)
        return text


def chosen_environment() -> str:
    """Return the environment that `--env` or TIDEGATE_ENV names; "" for none."""
    return os.environ.get(ENVIRONMENT_VARIABLE, "")


def read_content(file: Path) -> Content:
    """Read a settings file.

    Raises:
        SettingsError: it cannot be read or is not TOML.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_SETTINGS_BYTES + 1)
    except OSError as error:
        raise SettingsError(f"{file}: cannot be read: {error.strerror}", "check its permissions") from error
    if len(data) > MAX_SETTINGS_BYTES:
        raise SettingsError(f"{file}: more than {MAX_SETTINGS_BYTES:,} bytes", "keep only settings in it")
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise SettingsError(f"{file}: not UTF-8 at byte {error.start}", "save it as UTF-8") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"{file}: not TOML: {error}", 'write lines such as path = "warehouse"') from error


def profiles_of(file: Path, content: Content) -> dict[str, Content]:
    """Return the environments of a settings file by name, each with its own sections only.

    Raises:
        SettingsError: one of them is malformed.
    """
    found = content.get(PROFILES, {})
    if not isinstance(found, dict):
        raise SettingsError(f"{file}: env must be a section", "write [env.prod.store] and its keys below")
    profiles: dict[str, Content] = {}
    for name, profile in found.items():
        if re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name) is None:
            raise SettingsError(
                f"{file}: the name of an environment is of lower-case letters, digits, `_` and `-`,"
                f" got {name!r:.80}",
                "write for example [env.prod.store]",
            )
        if not isinstance(profile, dict):
            raise SettingsError(
                f"{file}: env.{name} must be a section", f"write [env.{name}.store], for example"
            )
        check_keys(Path(f"{file}: env.{name}"), profile)
        profiles[name] = profile
    return profiles


def names_of(file: Path, content: Content, section: str, key: str) -> frozenset[str]:
    """Return the names in a table of a settings file, such as `[alerts.channels]`, of all environments."""
    found: set[str] = set()
    for sections in (content, *profiles_of(file, content).values()):
        written = sections.get(section, {})
        named = written.get(key, {}) if isinstance(written, dict) else {}
        found |= named.keys() if isinstance(named, dict) else set()
    return frozenset(found)


def merged(file: Path, content: Content, environment: str) -> Content:
    """Return the sections of an environment: those of the file with its own merged over them.

    Raises:
        SettingsError: there is no such environment; the hint lists those that exist.
    """
    profiles = profiles_of(file, content)
    base = {name: section for name, section in content.items() if name != PROFILES}
    if not environment:
        return base
    if environment not in profiles:
        hint = did_you_mean(environment, profiles, "environments")
        raise SettingsError(
            f'{file}: there is no environment "{environment}"',
            hint
            if profiles
            else f"write [env.{environment}.store], or leave out --env and {ENVIRONMENT_VARIABLE}",
        )
    return _over(base, profiles[environment])


def resolve(file: Path, sections: Content, environment: str, *, may_lack: bool = False) -> Resolved:
    """Replace the references in the values of merged sections.

    Args:
        may_lack: leave out keys whose variables are not set: for commands that need no store and no Spark.

    Raises:
        SettingsError: a variable is not set, or a reference is malformed.
    """
    process = dict(os.environ)
    own = _own_variables(file, sections, process)
    variables = {**own, **process}
    hidden: dict[str, str] = {}
    unset: list[str] = []
    content: Content = {}
    for name, section in sections.items():
        if not isinstance(section, dict):
            content[name] = section
            continue
        content[name] = {}
        for key, value in section.items():
            place = f"{name}.{key}"
            if place == "store.url" and STORE_VARIABLE in process:
                continue
            try:
                content[name][key] = _replaced(f"{file}: {place}", value, variables, hidden)
            except SettingsError as error:
                if not may_lack:
                    raise
                unset.append(error.message)
    return Resolved(content, environment, variables, hidden, tuple(unset))


def _own_variables(file: Path, sections: Content, process: Mapping[str, str]) -> dict[str, str]:
    """Return `[project.variables]`, whose values may refer to variables of the process."""
    project = sections.get("project")
    found = project.get("variables", {}) if isinstance(project, dict) else {}
    variables: dict[str, str] = {}
    for name, value in found.items() if isinstance(found, dict) else ():
        place = f"{file}: project.variables.{name}"
        if NAME.fullmatch(name) is None or not isinstance(value, str):
            raise SettingsError(
                f"{place} must be a text in quotes, under a name of letters, digits and `_`",
                'write for example LANDING = "s3a://bucket/landing" below [project.variables]',
            )
        variables[name] = _replaced(place, value, process, {}) if name not in process else ""
    return variables


def _replaced(place: str, value: Any, variables: Mapping[str, str], hidden: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(f"{place}.{key}", each, variables, hidden) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(place, each, variables, hidden) for each in value]
    if not isinstance(value, str) or "${env." not in value:
        return value
    secret_end = value.rfind("@") if place.endswith(" store.url") else -1

    def escape(found: str, offset: int) -> str:
        # User and password of a URL: whatever characters a password has.
        return quote(found, safe="") if offset < secret_end else found

    try:
        text = expanded(value, variables, escape)
    except VariableError as error:
        raise SettingsError(f"{place}: {error.message}", error.hint) from None
    for name in names_in(value):
        for form in {variables[name], quote(variables[name], safe="")}:
            if len(form) >= LEAST_HIDDEN_CHARACTERS or (form and looks_secret(name)):
                hidden[form] = f"${{env.{name}}}"
    return text


def _over(base: Content, profile: Content) -> Content:
    """Return tables merged key by key; everything else of the profile replaces the base."""
    found = dict(base)
    for key, value in profile.items():
        before = found.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _over(cast("Content", before), cast("Content", value))
        found[key] = value
    return found

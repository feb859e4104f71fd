"""Secrets that are written out in `tidegate.toml`, as diagnostics of `tidegate lint`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tidegate.compiler.diagnostics.diagnostic import Diagnostic, Findings
from tidegate.domain.model import At
from tidegate.domain.variables import is_like_a_variable, looks_secret, names_in

OF_A_NAME = "_env"
"""A key that ends so has the name of a variable, and not a value."""


def literal_secrets(file: Path, shown: str) -> tuple[Diagnostic, ...]:
    """Return a warning for each value that should be a reference, in all environments.

    Args:
        shown: name of the file for messages.

    Raises:
        SettingsError: the file cannot be read.
    """
    from tidegate.project.settings.environments import read_content

    content = read_content(file)
    text = file.read_text(encoding="utf-8")
    findings = Findings(shown, _masked(text, [secret for _, _, secret in _secrets(content)]))
    for place, key, secret in _secrets(content):
        line = next((n for n, each in enumerate(text.splitlines(), 1) if secret in each), 1)
        findings.add(
            "T501",
            At(file=shown, line=line, column=1),
            f"a secret is a reference to a variable, got a text for {place!r}",
            _remedy(key),
        )
    return findings.diagnostics()


def _secrets(content: dict[str, Any], before: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield the place, the key and the secret part of each value that is one."""
    for name, value in content.items():
        place = f"{before}.{name}" if before else name
        if isinstance(value, dict):
            yield from _secrets(value, place)
        elif isinstance(value, list):
            for each in value:
                if isinstance(each, dict):
                    yield from _secrets(each, place)
        elif isinstance(value, str) and value:
            secret = _password(value) if "://" in value else (value if looks_secret(name) else "")
            if name.endswith(OF_A_NAME) and is_like_a_variable(value):
                continue
            if secret and not names_in(secret):
                yield place, name, secret


def _remedy(key: str) -> str:
    if key.endswith(OF_A_NAME):
        # A reference would put the value where a name belongs, and errors print names.
        name = _variable(key.removesuffix(OF_A_NAME))
        return f'write the name of the variable that has it, such as "{name}", and set it for the processes'
    return f'write "${{env.{_variable(key)}}}" in its place, and set that variable for the processes'


def _password(url: str) -> str:
    try:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        return parts.password or options.get("password", "")
    except ValueError:
        return ""


def _masked(text: str, secrets: list[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def _variable(key: str) -> str:
    name = "".join(c if c.isalnum() else "_" for c in key).upper()
    return name if looks_secret(name) else "STORE_PASSWORD"

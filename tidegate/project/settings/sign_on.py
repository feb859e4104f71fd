"""The section `[serve.oidc]`: the issuer that people sign in with, and what their groups may do, as values.

[serve.oidc]                          [[serve.oidc.grants]]
issuer = "https://id.example.com"     group = "data-platform"
client_id = "tidegate"                role = "admin"
client_secret_env = "SSO_SECRET"
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec

from tidegate.domain.duration import DurationError, parse_duration
from tidegate.domain.suggest import did_you_mean
from tidegate.domain.wording import shown
from tidegate.project.settings.alerts import VARIABLE
from tidegate.project.settings.language import SettingsError
from tidegate.project.settings.services import Section
from tidegate.scheduler.model.records.token import Grant, Role

APP = re.compile(r"[a-z][a-z0-9_]{0,62}")
LOOPBACK = ("localhost", "127.0.0.1", "::1")

Filled = Annotated[str, msgspec.Meta(min_length=1)]


class _Grant(Section, frozen=True, kw_only=True):
    group: Filled
    role: Role
    app: str | None = None


class _Oidc(Section, frozen=True, kw_only=True):
    issuer: Filled
    client_id: Filled
    client_secret_env: Filled
    scopes: tuple[Filled, ...] = ("openid", "groups")
    groups_claim: Filled = "groups"
    session: str = "8h"
    grants: tuple[Any, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class SignOn:
    """How people sign in.

    Attributes:
        issuer: its address, as its tokens have it.
        client_secret_env: the name of the variable with the secret.
        groups_claim: the claim of the id token that has the groups of a person.
        session: how long a sign-in counts.
        grants: what each group may do.
    """

    issuer: str
    client_id: str
    client_secret_env: str
    scopes: tuple[str, ...]
    groups_claim: str
    session: timedelta
    grants: Mapping[str, tuple[Grant, ...]]

    def grants_of(self, groups: Collection[str]) -> tuple[Grant, ...]:
        """Return what a person of some groups may do."""
        return tuple(each for group in groups for each in self.grants.get(group, ()))


_EXAMPLES = {
    "issuer": '"https://id.example.com"',
    "client_id": '"tidegate"',
    "client_secret_env": '"SSO_SECRET"',
    "scopes": '["openid", "groups"]',
    "groups_claim": '"groups"',
    "session": '"8h"',
    "group": '"data-platform"',
    "role": '"operate"',
    "app": '"sales"',
    "grants": '[{ group = "data-platform", role = "admin" }]',
}


def sign_on_of(file: Path, given: Mapping[str, Any]) -> SignOn:
    """Return what the settings say of the sign-on.

    Raises:
        SettingsError: a key is missing, unknown or wrong.
    """
    place = f"{file}: serve.oidc"
    found = _converted(place, given, _Oidc)
    _check_issuer(place, found.issuer)
    if VARIABLE.fullmatch(found.client_secret_env) is None:
        # What is written in place of a name is most likely the secret itself.
        raise SettingsError(
            f"{place}.client_secret_env is not the name of a variable", "write its name, not its value"
        )
    if "openid" not in found.scopes:
        raise SettingsError(f'{place}.scopes lacks "openid"', f"write scopes = {_EXAMPLES['scopes']}")
    grants: dict[str, tuple[Grant, ...]] = {}
    for number, each in enumerate(found.grants, 1):
        group, grant = _grant(f"{place}.grants {number}", each)
        grants[group] = (*grants.get(group, ()), grant)
    return SignOn(
        issuer=found.issuer,
        client_id=found.client_id,
        client_secret_env=found.client_secret_env,
        scopes=found.scopes,
        groups_claim=found.groups_claim,
        session=_session(place, found.session),
        grants=grants,
    )


def _converted(place: str, given: Any, kind: type[Any]) -> Any:
    if not isinstance(given, Mapping):
        raise SettingsError(f"{place} must be a table, got {shown(given)}", "write [[serve.oidc.grants]]")
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    for key in given:
        if key not in fields:
            raise SettingsError(f"{place} has no key {shown(key)}", did_you_mean(key, fields, "keys"))
    for name, field in fields.items():
        if field.required and name not in given:
            raise SettingsError(f"{place} lacks {name}", f"write for example {name} = {_EXAMPLES[name]}")
    try:
        return msgspec.convert(given, kind)
    except msgspec.ValidationError as error:
        key = (re.search(r"`\$\.(\w+)", str(error)) or [""])[1]
        rule = f"one of {', '.join(Role)}" if key == "role" else f"such as {_EXAMPLES[key]}"
        value = given[key] if isinstance(given[key], str) else repr(given[key])[:100]
        raise SettingsError(
            f"{place}.{key} must be {rule}, got {shown(value)}", f"write for example {key} = {_EXAMPLES[key]}"
        ) from error


def _check_issuer(place: str, issuer: str) -> None:
    """Check the address of the issuer: its answers decide who comes in, so they come over TLS."""
    try:
        parts = urlsplit(issuer)
        host = parts.hostname or ""
    except ValueError:
        host, parts = "", urlsplit("")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment or "@" in issuer:
        raise SettingsError(
            f"{place}.issuer must be an address of https without a password or a query"
            + ("" if "@" in issuer else f", got {shown(issuer)}"),
            f"write issuer = {_EXAMPLES['issuer']}, as its discovery document has it",
        )
    if parts.scheme == "http" and host not in LOOPBACK:
        raise SettingsError(
            f"{place}.issuer must be an address of https, got {shown(issuer)}",
            "write https://; http is for an issuer on this machine only (localhost, 127.0.0.1)",
        )


def _grant(place: str, given: Any) -> tuple[str, Grant]:
    found = _converted(place, given, _Grant)
    if found.app is not None and APP.fullmatch(found.app) is None:
        raise SettingsError(
            f"{place}.app must be the name of an app, got {shown(found.app)}",
            "write the name of one app, deployed or not, or leave it out for all",
        )
    return found.group, Grant(role=found.role, app=found.app)


def _session(place: str, text: str) -> timedelta:
    try:
        return parse_duration(text)
    except DurationError as error:
        raise SettingsError(
            f"{place}.session must be a duration, got {shown(text)}",
            f"write for example session = {_EXAMPLES['session']}",
        ) from error

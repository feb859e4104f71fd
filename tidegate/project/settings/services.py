"""The sections of what works beside the engine: the watcher, the server, alerts and the rules of lint."""

from typing import Annotated, Any, Literal

import msgspec

Table = dict[str, Any]
"""Settings of another program, by their own names."""


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One section of the file."""


def key_of(
    rule: str, example: str, description: str, least: int | None = None, most: int | None = None
) -> msgspec.Meta:
    """Return what a key says of itself: its rule, an example in TOML, and its description."""
    return msgspec.Meta(title=rule, examples=[example], description=description, ge=least, le=most)


def text_of(example: str, description: str) -> msgspec.Meta:
    """Return what a key of text says of itself."""
    return key_of("a text in quotes", f'"{example}"', description)


class WatchSection(Section, frozen=True, kw_only=True):
    """How folders of datasets with `watch` are looked at; see [watching.md](watching.md)."""

    interval_seconds: Annotated[
        int,
        key_of(
            "a whole number from 1 to 3600",
            "10",
            "Seconds from one look at a folder to the next; more where a look takes longer than a tenth of"
            " that.",
            least=1,
            most=3600,
        ),
    ] = 10
    options: Annotated[
        Table,
        key_of(
            "a table",
            '{ endpoint_url = "https://minio.example.com" }',
            "Options of the client of a cloud's file system (s3fs, gcsfs, adlfs), in a section"
            " `[watch.options]`. Empty: what Spark has for `s3a`, and what the environment has.",
        ),
    ] = {}


class ServeSection(Section, frozen=True, kw_only=True):
    """What [the server](rest.md) allows."""

    url: Annotated[
        str,
        text_of(
            "https://tidegate.example.com",
            "The address of the server as people reach it; alerts link to pages of its board.",
        ),
    ] = ""
    requests_per_minute: Annotated[
        int,
        key_of(
            "a whole number from 0",
            "600",
            "How many requests a minute a token may make; without tokens, an address. Up to that many come at"
            " once. `0` for no limit.",
            least=0,
        ),
    ] = 6000
    anonymous: Annotated[
        Literal["write", "read", "none"],
        key_of(
            '"write", "read" or "none"',
            '"none"',
            "What callers of this machine may do without a token while the store has none: `write` "
            "everything if they are the user who runs the server, or root, and others only read; `read` only "
            "read, `none` nothing. Once the store has a token, or with `oidc`, each call needs one.",
        ),
    ] = "write"
    oidc: Annotated[
        Table,
        key_of(
            "a table",
            '{ issuer = "https://id.example.com", client_id = "tidegate", client_secret_env = "SSO_SECRET" }',
            "The sign-on of people by OpenID Connect, in a section `[serve.oidc]`: `issuer`, `client_id`, "
            '`client_secret_env`, `scopes` (`["openid", "groups"]`), `groups_claim` (`"groups"`), '
            '`session` (`"8h"`); what a group may do, in sections `[[serve.oidc.grants]]` with `group`, '
            "`role` and, for one app, `app`. See [operating.md](board.md#signing-in).",
        ),
    ] = {}


class AlertsSection(Section, frozen=True, kw_only=True):
    """Who hears of failures and lateness; see [alerts.md](alerts.md)."""

    window: Annotated[
        str,
        text_of("30m", "How long after an alert the same trouble is only counted, for one with the count."),
    ] = "1h"
    default: Annotated[
        Table,
        key_of(
            "a table",
            '{ failed = ["ops"], dead_letter = ["ops"] }',
            "The channels by kind of alert, in a section `[alerts.default]`, where the YAML names none.",
        ),
    ] = {}
    channels: Annotated[
        Table,
        key_of(
            "a table",
            '{ ops = { kind = "webhook", format = "slack", url_env = "SLACK_URL" } }',
            "The channels by name, each in a section `[alerts.channels.NAME]`.",
        ),
    ] = {}


class LintSection(Section, frozen=True, kw_only=True):
    """Rules that a project adds to those of the language."""

    rules: Annotated[
        Table,
        key_of(
            "a table",
            '{ owner = "error", max_per_app = { max = 50, severity = "warning" } }',
            "Rules of `lint`, `plan`, `deploy` and of calls to the server, in a section `[lint.rules]`: "
            "`owner`, `timeout`, `description`, `name`, `max_per_app`, `max_per_group` and `triggers`, each "
            "with a severity (operating.md).",
        ),
    ] = {}

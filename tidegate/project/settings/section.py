"""A section of `tidegate.toml`: the base of its class, and what its keys say of themselves."""

from typing import Any

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

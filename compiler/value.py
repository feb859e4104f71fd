"""The base of every value that the project passes around: frozen, keyword-only, slotted.

A value has no behaviour that depends on anything but its fields, so it can be compared,
hashed, printed in a test and stored as JSON. `msgspec` does the encoding; see
docs/adr/0002-values-are-msgspec-structs.md for why these are not dataclasses.
"""

import msgspec


class Value(msgspec.Struct, frozen=True, kw_only=True):
    """An immutable record with named fields. Subclasses repeat `kw_only=True`: it is not inherited."""

"""The base of every value that the project passes around: frozen, keyword-only, slotted.

A value has no behaviour that depends on anything but its fields, so it can be compared,
hashed, printed in a test and stored as JSON. `msgspec` does the encoding; see
docs/adr/0002-values-are-msgspec-structs.md for why these are not dataclasses.
"""

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An immutable record with named fields. Subclasses repeat `kw_only=True`: it is not inherited.

    A frozen value is made after its parts, so none can be part of itself, and the collector of
    reference cycles need not look at it: a tick makes tens of thousands.
    """

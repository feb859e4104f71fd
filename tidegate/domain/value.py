"""The base of all values of the project: frozen, keyword-only, slotted.

The behaviour of a value depends on its fields only, so it can be compared, hashed, printed in a
test and stored as JSON. docs/adr/0002-values-are-msgspec-structs.md says why these are `msgspec`
structs and not dataclasses.
"""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An immutable record with named fields. Subclasses repeat `kw_only=True`: it is not inherited.

    A frozen value is created after its parts and cannot contain itself, so it needs no garbage
    collection of reference cycles (`gc=False`): a tick creates tens of thousands of values.
    """


@contextmanager
def without_collection() -> Generator[None]:
    """Collect no garbage in a block that makes next to none, however many values it makes.

    Each collection looks at all of their lists and mappings: ten times the work of decoding them.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

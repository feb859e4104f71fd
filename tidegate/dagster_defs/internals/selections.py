"""The parts of an asset selection that name assets by their keys.

Why: a key that no asset has is silently nothing; `plan` reports it with the nearest one.
Since: Dagster 1.10.
"""

from dagster._core.definitions.asset_selection import (
    AndAssetSelection,
    ChainedAssetSelection,
    KeysAssetSelection,
    KeyWildCardAssetSelection,
    OrAssetSelection,
    SubtractAssetSelection,
)

__all__ = [
    "AndAssetSelection",
    "ChainedAssetSelection",
    "KeyWildCardAssetSelection",
    "KeysAssetSelection",
    "OrAssetSelection",
    "SubtractAssetSelection",
]

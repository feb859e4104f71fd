"""What Dagster does to create a run, on an instance of our choice, and the tables in which that ends.

Why: a hundred runs are written in a few transactions; what is in their rows, and which events they plan, is
Dagster's own decision, which the public `create_run` writes at once.
Since: Dagster 1.13.0; before, it was a part of the instance itself.
"""

from dagster._core.instance.runs.run_domain import RunDomain
from dagster._core.instance.types import DynamicPartitionsStore
from dagster._core.storage.event_log.migration import ASSET_KEY_INDEX_COLS
from dagster._core.storage.event_log.schema import AssetKeyTable

__all__ = ["ASSET_KEY_INDEX_COLS", "AssetKeyTable", "DynamicPartitionsStore", "RunDomain"]

"""What a code server sends of a repository, as text, and what it makes of the jobs of one.

Why: the snapshot of a large location is made of the plan, after the example of one that Dagster has made.
Since: Dagster 1.11; the names of some modules are those of 1.13.
"""

from dagster._config.field_utils import compute_fields_hash
from dagster._core.definitions.assets.definition.assets_definition import unique_id_from_asset_and_check_keys
from dagster._core.definitions.partitions.snap import PartitionsSnap
from dagster._core.remote_representation.external_data import JobDataSnap, RepositorySnap

__all__ = [
    "JobDataSnap",
    "PartitionsSnap",
    "RepositorySnap",
    "compute_fields_hash",
    "unique_id_from_asset_and_check_keys",
]

"""The client of a code server.

Why: `tidegate dev` and `status` ask a code server whether it has loaded, and let it load again, and Dagster
has that only in its webserver.
Since: Dagster 1.5 or before.
"""

from dagster._grpc.client import DagsterGrpcClient
from dagster._grpc.types import ListRepositoriesResponse

__all__ = ["DagsterGrpcClient", "ListRepositoriesResponse"]

"""Which steps of a commit sequence concern a table alone."""

from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion


def in_table(root: str, step: CommitStep) -> bool:
    """Return whether a step prepares, shows or cleans the table at `root`, an absolute path."""
    match step:
        case PublishFolder(target=place) | CopyFolder(target=place) | DeleteStaging(folder=place):
            return place.startswith(f"{root}/")
        case ShowVersion(root=place):
            return place == root
        case _:
            return False

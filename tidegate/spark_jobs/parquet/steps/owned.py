"""Which steps of a commit sequence concern a table alone.

Makes a table refuse an abandoned commit, so that a driver which wakes up after that adds no rows. A version
is put that differs only in its list of commits. A publish that has read an earlier version finds its number
taken, reads the newest one and finds the refusal.
"""

from tidegate.spark_jobs.commit.step import CommitStep
from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.files.filesystem import FileSystem
from tidegate.spark_jobs.parquet.folders.copy_folder import CopyFolder
from tidegate.spark_jobs.parquet.folders.publish_folder import PublishFolder
from tidegate.spark_jobs.parquet.steps.show_version import ShowVersion
from tidegate.spark_jobs.parquet.version_log import head, put_version
from tidegate.spark_jobs.parquet.view import show_newest, stale

TRIES = 1000
"""How many times in a row another publish may take the version number before the refusal fails."""


def refuse_commit(files: FileSystem, root: str, commit: str) -> None:
    """Put a version that refuses a commit, unless the newest one lists it as published.

    Raises:
        OSError: the file system failed, or other publishes were first `TRIES` times in a row.
    """
    for _ in range(TRIES):
        now = head(files, root)
        if commit in now.recent or now.refuses(commit):
            break
        if put_version(files, root, now.refusing(commit)):
            break
    else:
        raise OSError(f"{root}: other runs published first {TRIES} times in a row; try again")
    if stale(files, root):
        show_newest(files, root)


def in_table(root: str, step: CommitStep) -> bool:
    """Return whether a step prepares, shows or cleans the table at `root`, an absolute path."""
    match step:
        case PublishFolder(target=place) | CopyFolder(target=place) | DeleteStaging(folder=place):
            return place.startswith(f"{root}/")
        case ShowVersion(root=place):
            return place == root
        case _:
            return False

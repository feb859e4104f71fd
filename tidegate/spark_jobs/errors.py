"""The failures that a user of the programs can cause or has to act upon.

Each message names the dataset, partition or setting and says what to do. The command line
and the Dagster definitions show the message without a traceback. Every module of
spark_jobs may raise these errors; none may swallow them.
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from tidegate.domain.commits import CheckVerdict
from tidegate.domain.error import UserError


class SparkJobError(UserError):
    """Base class of the expected failures of a program's run."""


class SparkMissing(SparkJobError):
    """Spark, which an extra brings, is not installed beside Tidegate."""


@contextmanager
def needs_spark() -> Generator[None]:
    """Import what loads Spark inside this block, so that a machine without it says what to install.

    Raises:
        SparkMissing: Spark is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if not lacks_spark(error):
            raise
        raise SparkMissing(
            f"Spark is not installed here: {error.msg}",
            f"where programs run, {INSTALL_SPARK}",
        ) from error


def lacks_spark(error: BaseException) -> bool:
    """Return whether an import has failed because Spark is not installed."""
    return isinstance(error, ModuleNotFoundError) and error.name in ("pyspark", "py4j")


INSTALL_SPARK = "pip install 'tidegate[iceberg]', or 'tidegate[spark]' for tables of Parquet alone"


class JavaNotFound(SparkJobError):
    """A Java that Spark runs on was not found."""


class ClusterRefused(SparkJobError):
    """A Spark cluster does not answer, or does not run what its driver runs: another Spark or Python."""


class ProgramError(SparkJobError):
    """The program cannot be imported, or did not return its outputs."""


class OutputError(SparkJobError):
    """The output does not fit its dataset, for example rows outside the run's partitions."""


class NotJudged(OutputError):
    """A check of the output cannot be judged. Nothing was published: it is not known whether it holds."""


class SourceError(SparkJobError):
    """The new rows cannot be determined, or the source broke its contract. Nothing was published."""


class SparkLost(SparkJobError):
    """The JVM of Spark has ended under the run."""


class CommitUnknown(SparkJobError):
    """A step cannot determine whether it was done. The sequence is kept: a person must inspect it."""


class CommitFailed(SparkJobError):
    """A step was executed and is still not done. The sequence is kept for the next run."""


class CommitAbandoned(CommitFailed):
    """A person abandoned the sequence while it was being finished."""


class CommitConflict(SparkJobError):
    """Others changed what this run has read or replaces. Nothing was published; run it again."""


class CommitFenced(SparkJobError):
    """The lease of this attempt expired before it published. Nothing was published; run it again."""


class RunOver(CommitFenced):
    """The job of this run was stopped, or is run again. Nothing was published, now or later."""


class PublishWithheld(SparkJobError):
    """A check of the staged rows failed. Nothing was published; the rows stay staged until a person decides.

    Attributes:
        commit: commit id.
        verdicts: of all checks, passed or not.
    """

    def __init__(self, commit: str, verdicts: Sequence[CheckVerdict]) -> None:
        failed = [each for each in verdicts if each.blocks]
        found = "; ".join(f"{each.dataset}, check {each.name}: {each.found}" for each in failed)
        super().__init__(
            f"commit {commit} is withheld, since {len(failed)} of {len(verdicts)} checks failed: {found}",
            f"nothing is published. Look at it with `tidegate commits show {commit}`, and publish it with"
            f" `tidegate commits release {commit} --reason TEXT`, or correct the data and run the job again",
        )
        self.commit, self.verdicts = commit, tuple(verdicts)


class WithheldRefused(SparkJobError):
    """A withheld publish cannot be released or abandoned: its rows are out of date, or it is not withheld."""


class StoreBehind(SparkJobError):
    """A table has a larger token than the store has given: the store is older than the table."""


class TableBehind(SparkJobError):
    """An output lacks rows that a watermark has passed: the table is older than the store, or another one."""


class TableDamaged(SparkJobError):
    """The file or property that says what a table has cannot be read."""


class CommitBusy(SparkJobError):
    """Another process held a sequence for longer than the wait limit."""


class CommitBlocked(SparkJobError):
    """A sequence has failed too often. Its datasets are not written until a person resolves it."""

"""The failures that a user of the programs can cause or has to act upon.

Each message names the dataset, partition or setting and says what to do. The command line
and the Dagster definitions show the message without a traceback. It sits at the bottom of
spark_jobs: everything here may raise these, nothing here may swallow them.
"""

from tidegate.domain.error import UserError


class SparkJobError(UserError):
    """Base of the expected failures of a program's run."""


class JavaNotFound(SparkJobError):
    """No Java 17 to run Spark with."""


class ProgramError(SparkJobError):
    """The program cannot be imported, or it returned something else than its outputs."""


class OutputError(SparkJobError):
    """The output does not fit its dataset, for example rows outside the run's partitions."""


class SourceError(SparkJobError):
    """What is new of a dataset cannot be told, or its source broke a promise. Nothing was published."""


class CommitUnknown(SparkJobError):
    """A step cannot tell whether it was done. The sequence is kept: a human must look."""


class CommitFailed(SparkJobError):
    """A step was executed and still is not done. The sequence is kept for the next run."""


class CommitAbandoned(CommitFailed):
    """A person has taken the sequence away while it was being finished."""


class CommitConflict(SparkJobError):
    """Another run has moved what this one has read. Nothing was published; it may be run again."""


class CommitFenced(SparkJobError):
    """This attempt was given up before it could publish. Nothing was published; it may be run again."""


class CommitBusy(SparkJobError):
    """Another process was finishing a sequence for longer than one waits."""


class CommitBlocked(SparkJobError):
    """A sequence has failed too often. Its datasets are not written until a human has looked."""

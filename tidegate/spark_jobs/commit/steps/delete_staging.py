"""Removes the staging folder of a commit once everything in it has been published.

The folder is named after the commit id, so it holds no data of another commit. It is a step and
not a later clean-up, so that a crash leaves no garbage behind. Another attempt of
the commit may still be staging and recreate the folder while it is deleted: that must
not fail the publish, and that attempt removes its own part when it finds the commit published.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind


@step_kind("delete_staging")
class DeleteStaging(Value, kw_only=True):
    """Deletes the folder `folder`, an absolute path."""

    effect: ClassVar[Effect] = Effect.CLEANS

    folder: str

    def verify(self, context: CommitContext) -> Verified:
        return NOT_DONE if context.files.exists(self.folder) else DONE

    def execute(self, context: CommitContext) -> None:
        context.files.delete(self.folder)

    def describe(self) -> str:
        return f"delete {self.folder}"

"""The step that shows a published version to readers outside of Tidegate, through the link `current`.

It comes right after the version log, so between the two a reader of the link sees the version before: whole,
and a moment older. The step is done when the link leads to the commit's version or a later one.
"""

from typing import ClassVar

from tidegate.domain.value import Value
from tidegate.spark_jobs.commit.context import CommitContext
from tidegate.spark_jobs.commit.step import DONE, NOT_DONE, Effect, Verified, step_kind
from tidegate.spark_jobs.parquet.version_log import head
from tidegate.spark_jobs.parquet.view import (
    current_folder,
    show_newest,
    shown_view,
    view_name,
    view_number,
)


@step_kind("show_version")
class ShowVersion(Value, kw_only=True):
    """Switches the readers of the table at `root`, an absolute path, to the version of a commit."""

    effect: ClassVar[Effect] = Effect.FOLLOWS

    root: str
    commit: str

    def verify(self, context: CommitContext) -> Verified:
        if context.files.local_path(self.root) is None:
            return DONE
        # In this order: the link never leads to a version that a later look at the log does not find.
        shown, now = shown_view(context.files, self.root), head(context.files, self.root)
        published = now.number_of(self.commit)
        if published is None or shown == view_name(now):
            # When the log no longer lists the commit, every later publish has switched the link.
            return DONE
        return DONE if published <= (view_number(shown or "") or 0) < now.number else NOT_DONE

    def execute(self, context: CommitContext) -> None:
        show_newest(context.files, self.root)

    def describe(self) -> str:
        return f"show it to other readers at {current_folder(self.root)}"

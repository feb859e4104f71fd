"""The kinds of commit step that no table format owns, one a file; importing this package registers them.

A step acts through its context: the file system seam, and Spark only where a table format leaves no
other way, so that every other sequence is recoverable without it.
"""

from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark

__all__ = ["DeleteStaging", "ReportEvent", "SetWatermark"]

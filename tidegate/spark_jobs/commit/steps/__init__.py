"""The kinds of commit steps shared by all table formats, one per file; importing this package registers them.

A step acts through its context. It uses Spark only where a table format requires it, so that every other
sequence can be recovered without Spark.
"""

from tidegate.spark_jobs.commit.steps.delete_staging import DeleteStaging
from tidegate.spark_jobs.commit.steps.report_event import ReportEvent
from tidegate.spark_jobs.commit.steps.set_watermark import SetWatermark

__all__ = ["DeleteStaging", "ReportEvent", "SetWatermark"]

"""The kinds of commit step, one a file.

Every module here is loaded when a sequence is decoded; it registers its step with
`@step_kind`. A step may use the file system seam and the table layout, never Spark: a
sequence must be recoverable where no session runs.
"""

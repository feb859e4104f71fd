"""The kinds of commit step, one a file.

Every module here is loaded when a sequence is decoded; it registers its step with
`@step_kind`. A step acts through its context: the file system seam, and Spark only where a
table format leaves no other way, so that every other sequence is recoverable without it.
"""

"""The watcher of landing folders: complete partitions become events without a report.

    folder ─► `listing` (local, cloud) ─► `partitions` ─► `settling` ─► `look` ─► scheduler.intake.watched

`watching` looks at all folders of a project, each in a thread of its own.
"""

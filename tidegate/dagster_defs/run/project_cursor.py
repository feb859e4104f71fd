"""The names of cursors that each project of a store has for itself."""

from tidegate.compiler.plan.ownership import NO_PROJECT


def of_project(name: str, project: str) -> str:
    """Return the name of the cursor of a project."""
    return name if project == NO_PROJECT else f"{name}:{project}"

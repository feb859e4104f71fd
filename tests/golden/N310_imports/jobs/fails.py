"""A module whose import fails."""

raise RuntimeError("no database here")

"""The files that `tidegate init` copies into a new project (see tidegate/project/create.py)."""

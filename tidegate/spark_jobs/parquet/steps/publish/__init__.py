"""The commit steps that publish: a folder, a merge, a version."""

"""Folders of data files: read, and moved or copied to their place by commit steps."""

"""Diagnostics, the messages to the author of a YAML file, and the catalogue of their codes."""

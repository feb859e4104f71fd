"""Dagster's processes for one project: code server, daemon, webserver, and their folder."""

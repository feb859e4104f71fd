"""Rows beside those of apps, events and jobs: each kind with its reader and its writer in SQL."""

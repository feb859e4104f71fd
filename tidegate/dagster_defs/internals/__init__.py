"""Every part of Dagster that Dagster does not declare public, one file for each need.

Each file says what it has, why the public parts are not enough, and since which version of Dagster its parts
exist. It loads only what its own need takes, and knows nothing of ours. A tidy rule forbids such imports
elsewhere (`tests/tidy/internals.py`), so a new version of Dagster is read against this folder alone.
"""

"""Judges the rows that a run has staged by the checks of their dataset, before any reader sees them."""

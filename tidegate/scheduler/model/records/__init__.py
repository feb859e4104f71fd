"""Rows beside those of apps, events and jobs, as values."""

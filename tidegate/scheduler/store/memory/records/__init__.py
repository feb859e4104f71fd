"""Rows beside those of apps, events and jobs, in memory."""

"""Pages of events in SQL."""

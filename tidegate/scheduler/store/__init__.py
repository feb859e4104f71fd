"""The schedule store: one protocol, and an implementation in memory and one in SQL."""

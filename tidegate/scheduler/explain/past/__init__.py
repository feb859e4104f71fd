"""The past: the store as it was at an instant, from a snapshot and the journal."""

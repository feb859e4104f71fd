"""The queries of the lists: each returns items that are read from the store and worded by the engine."""

"""Connections to a database: the engine, what only reads, and how an address is shown."""

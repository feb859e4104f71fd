"""Maintenance in the tick: polls load what is due, let the core decide, and write starts and ends."""

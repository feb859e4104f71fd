"""Queries of SQL programs as values: what they read, what they name, and why they are refused. Pure."""

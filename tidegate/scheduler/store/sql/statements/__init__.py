"""Statements on tables: rows as values and back, reads, writes of many rows, and moves."""

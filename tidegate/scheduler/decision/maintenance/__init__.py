"""Maintenance: which policy counts, what is due, what holds it back, and what a poll starts. Pure."""

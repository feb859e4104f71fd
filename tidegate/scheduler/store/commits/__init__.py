"""Commit sequences, attempts, owners and watermarks, kept in SQL."""

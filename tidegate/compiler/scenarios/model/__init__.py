"""Scenarios as values: what they give and what they expect."""

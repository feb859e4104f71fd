"""Reads `given:`, the actions of a scenario."""

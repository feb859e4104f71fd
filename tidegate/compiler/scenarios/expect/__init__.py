"""Reads `expect:`, what a scenario expects."""

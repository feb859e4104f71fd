"""Diagnostics in each format that `tidegate lint` prints; one file for each."""

"""The runs that carry out operations on tables."""

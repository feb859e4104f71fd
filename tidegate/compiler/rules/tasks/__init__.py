"""The rules for single cycle tasks: the keys of their types, and what they write."""

"""The publish of staged rows as one snapshot, and what refuses or fences it."""

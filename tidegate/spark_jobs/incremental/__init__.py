"""Incremental reads: what is new in a source since the last commit, and the watermarks."""

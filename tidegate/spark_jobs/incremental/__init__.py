"""Incremental reads: the new rows of a source since the last commit, and the watermarks."""

"""One file for each revision, numbered in order. A revision that was released never changes."""

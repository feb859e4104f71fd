"""`tidegate store`: how large the schedule store is, what retention removes, and its journal as a file."""

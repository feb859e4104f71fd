"""The routes of the server, one file for each group of paths."""

"""Publishing and reading a table whatever its format."""

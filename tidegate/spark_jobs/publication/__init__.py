"""Publishing and reading tables of any format."""

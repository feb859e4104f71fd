"""The commands about what datasets are: their declaration, their columns, and where these come from."""

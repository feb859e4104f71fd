"""Jobs of other code locations: what a loaded location says of them, and their runs."""

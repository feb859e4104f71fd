"""Programs: plain functions found by their dotted path, and the parameters of their runs."""

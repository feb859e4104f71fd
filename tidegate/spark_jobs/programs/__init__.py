"""Programs: plain functions found by their dotted path, and what they learn about their run."""

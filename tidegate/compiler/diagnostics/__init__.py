"""Messages to the author of a YAML file: their values, their codes, and "did you mean"."""

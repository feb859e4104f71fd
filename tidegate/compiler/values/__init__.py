"""Single values of the YAML, such as durations, sizes, zones and crons, from their text."""

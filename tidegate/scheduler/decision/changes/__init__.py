"""What becomes of jobs, events and overrides when a schedule changes."""

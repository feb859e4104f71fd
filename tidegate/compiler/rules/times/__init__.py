"""The rules for times: windows, clock changes, timeouts, and what can never start."""

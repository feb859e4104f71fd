"""The commands of operations: schedules, jobs, events, gauges, and explanations."""

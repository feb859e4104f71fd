"""The rules against cycles: of schedules, of tasks, and of the instances of tasks."""

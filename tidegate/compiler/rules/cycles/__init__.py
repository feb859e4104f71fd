"""The rules for cycle tasks and their outputs, and against cycles of schedules, tasks and instances."""

"""The times of cycle tasks: the grid of scheduled times, their keys, and how upstream ones are picked."""

"""The commands that bring something in: reports of data, watched folders, gauges, and events once more."""

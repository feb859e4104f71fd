"""The view of a day: tasks by hours, for a terminal and as a page."""

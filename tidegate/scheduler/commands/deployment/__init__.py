"""What a deployment changes, and what becomes of the schedules, jobs and rows that it meets."""

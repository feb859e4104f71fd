"""What people do to schedules, jobs and whole apps by hand."""

"""What people and deploys do to schedules and jobs, each in one transaction."""

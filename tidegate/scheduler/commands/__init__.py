"""Commands of people and deploys on schedules and jobs, each in one transaction."""

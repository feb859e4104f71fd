"""What deployments and people do to instances of tasks."""

"""`tidegate why`: of schedules and jobs, of instances and of operations on tables."""

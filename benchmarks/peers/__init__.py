"""What peers have beside us: plain Dagster and Airflow 3, at their best settings."""

"""What the store in SQL knows of maintenance: tables, when operations are due, and their runs."""

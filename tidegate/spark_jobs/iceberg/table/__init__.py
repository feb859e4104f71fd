"""An Iceberg table as it is: its snapshots, who published them, what they changed, and its files."""

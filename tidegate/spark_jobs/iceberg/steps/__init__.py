"""The commit steps of Iceberg tables, one file each."""

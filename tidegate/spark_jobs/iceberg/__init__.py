"""The Iceberg format: catalog, staging, the table log, and its own commit steps."""

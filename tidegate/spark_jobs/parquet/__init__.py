"""The Parquet format: staging, the version log, merging, and its own commit steps."""

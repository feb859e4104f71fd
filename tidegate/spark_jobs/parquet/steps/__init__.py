"""The commit steps of Parquet tables, one file each."""

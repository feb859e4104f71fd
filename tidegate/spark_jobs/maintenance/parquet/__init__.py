"""Maintenance of the Parquet tables of datasets."""

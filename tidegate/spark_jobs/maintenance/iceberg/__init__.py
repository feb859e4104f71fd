"""Maintenance of Iceberg tables, those of datasets and all others of Spark's catalogs."""

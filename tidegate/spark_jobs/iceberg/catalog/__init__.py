"""The catalog of Iceberg tables, its options, the files below it, and its failures."""

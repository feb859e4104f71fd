"""A project on disk: its settings, its YAML files, its Spark."""

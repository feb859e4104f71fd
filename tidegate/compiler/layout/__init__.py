"""The layout of YAML files: `tidegate fmt`."""

"""File systems: the few operations that publishing relies on, local or through Hadoop."""

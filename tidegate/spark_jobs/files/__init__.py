"""File systems: the operations that publishing relies on, local or through Hadoop."""

"""The pure half of the engine: values in, decisions out. It cannot reach the store."""

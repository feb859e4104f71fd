"""The tick: load the due rows, let the core decide, write the result in one transaction."""

"""The tick: loads what is due, lets the core decide, writes the result in one transaction."""

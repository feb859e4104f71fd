"""The commands of an author: check the YAML, play it, see what it changes, deploy it."""

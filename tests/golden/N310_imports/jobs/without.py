"""A module without a program."""

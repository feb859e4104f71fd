"""A file just above 1 MiB, all of it comments."""

CONTENT = b"app: flights\n" + b"# a comment\n" * 100_000

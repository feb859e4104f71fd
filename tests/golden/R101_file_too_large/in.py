CONTENT = b"app: flights\n" + b"# a comment\n" * 100_000

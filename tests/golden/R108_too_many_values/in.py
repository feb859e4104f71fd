"""A list of more values than a file may hold."""

CONTENT = b"app: flights\ndescription: [" + b"0, " * 100_001 + b"0]\n"

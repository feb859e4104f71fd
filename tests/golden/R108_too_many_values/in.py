CONTENT = b"app: flights\ndescription: [" + b"0, " * 100_001 + b"0]\n"

"""A file with more than a hundred mistakes."""

CONTENT = b"app: flights\ngroups:\n" + b"".join(b"  Group%d: x\n" % n for n in range(103))

"""Instances of cycle tasks explained: what each waits for, and lists of them for people."""

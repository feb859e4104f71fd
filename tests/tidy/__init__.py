"""The rules of style that a machine can hold; `tests/test_tidy.py` applies them to the project."""

"""The rules for triggers and what is beside them: members, keys and batches."""

"""The commands of operations: what waits, what ran, why, and what a person does about it."""

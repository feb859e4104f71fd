"""The ground floor: the values that every other package shares. Imports nothing of ours."""

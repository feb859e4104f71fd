"""The store in memory: for scenarios and simulations, and the reference for the SQL store."""

"""`tidegate status` and `tidegate doctor`: what is alive, what is not, and what to do."""

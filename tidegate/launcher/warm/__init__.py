"""Workers that take one run after the other, and keep their Spark."""

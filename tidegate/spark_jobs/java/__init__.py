"""The JVM of this process's Spark: its classes, its calls, its failures, and its end."""

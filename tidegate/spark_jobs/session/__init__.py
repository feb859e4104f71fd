"""The Spark session of a process, and the Java it needs."""

"""Reading and writing datasets: the file system seam, the table layout, and what reads it."""

"""The scope of what is built: the names that are declared here and in other apps, and the findings."""

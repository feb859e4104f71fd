"""The scope of what is built: the names that are declared, in this file and in other apps, and the findings."""

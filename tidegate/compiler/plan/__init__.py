"""What is wanted against what is deployed: fingerprints, the difference, its consequences."""

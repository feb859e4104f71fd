"""The families of diagnostics by the first letter of their codes, in the order of docs/diagnostics.md."""

FAMILIES = {
    "R": "Reading the file",
    "S": "Structure",
    "V": "Values",
    "N": "Names",
    "L": "Rules between parts",
    "T": "Settings",
}

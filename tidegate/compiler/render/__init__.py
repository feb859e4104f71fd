"""Drawing what the compiler found: one small file for each thing and format.

Nothing here decides anything: what is drawn was computed elsewhere and is passed in.
"""

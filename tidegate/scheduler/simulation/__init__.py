"""Simulation: the real engine on a virtual clock, with a launcher that plays the runs.

Nothing here decides: the tick, the outbox, the claim and the observation are those that serve the daemon,
so what a scenario shows is what would happen. Time jumps from one instant at which something
belongs to the next; nobody waits, and the same scenario gives the same timeline always.
"""

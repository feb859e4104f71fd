"""Simulation: the real engine on a virtual clock, with a launcher that simulates the runs.

Nothing here decides: tick, outbox, claim and observation are the ones that the daemon uses, so a
scenario shows what would happen. The clock jumps from one due instant to the next without waiting,
and a scenario always gives the same timeline.
"""

"""Data that is expected: until when a period of a dataset has to have landed, and what follows if not. Pure.

    deadline: "08:00"   with partitions: the first 08:00 at or after the end of the period
                        without: at each 08:00 there was an update since the 08:00 before
    deadline: 2h        with partitions: two hours after the end of the period
                        without: two hours after the last update

A period has landed when all its partitions have: each static key of it. It is judged once, at its deadline,
after all events of that instant; at the deadline it is in time. One that lands later has landed after all.
"""

"""*Now*, the first page: what needs a person, what runs, what waits for what, and what comes.

tiles.py ◄─ words.py ◄─ waits.py ◄─ needs.py ─┐
                                              ├─► pages.py
coming.py ────────────────────────────────────┘
"""

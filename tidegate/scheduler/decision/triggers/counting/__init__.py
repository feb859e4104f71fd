"""Counting: a job's tally, advanced by the events that arrived after those that it counts.

    tally, with what is kept of keys and events ── new events in order of arrival ──► tally, changed keys

A tally that is advanced event by event equals one that is counted from all events at once. What each event
costs does not depend on how many the job holds: `counter` says why, also where events stop counting.
"""

"""Time as schedules mean it: wall clocks, cycles, calendars, crons, durations."""

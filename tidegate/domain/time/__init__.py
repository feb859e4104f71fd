"""Time in schedules: wall clocks, cycles, calendars, crons, durations."""

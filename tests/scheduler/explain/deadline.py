"""A schedule whose jobs miss their deadline: the window opens nine hours after it."""

LATE = """
s:
  program: p
  for_each: day
  trigger: {partitions: {dataset: raw}}
  constraints: [{window: {from: "20:00", to: "21:00"}}]
  deadline: "11:00"
  status: active
"""
